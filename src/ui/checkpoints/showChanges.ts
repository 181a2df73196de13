import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { Disposable } from '../../base/disposable.ts';
import type { Checkpoint, CheckpointFile, FileState } from '../../patch/checkpoint/checkpoint.ts';
import type { CheckpointStore } from '../../patch/checkpoint/checkpointStore.ts';
import { authorityOf, onMachine } from '../machineWords.ts';
import { shownFiles } from './checkpointWords.ts';

const scheme = 'cordon-checkpoint';

/** Lets editors show kept contents: read-only, and with exactly their bytes, whatever the encoding. */
export function registerCheckpointContents(checkpoints: Pick<CheckpointStore, 'content'>): Disposable {
  const never = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  const refuse = (uri: vscode.Uri): never => {
    throw vscode.FileSystemError.NoPermissions(uri);
  };
  const read = async (uri: vscode.Uri): Promise<Uint8Array> => {
    const hash = uri.query;
    try {
      return hash === '' ? new Uint8Array() : await checkpoints.content(hash);
    } catch (error) {
      throw vscode.FileSystemError.FileNotFound(`${uri.path}: ${(error as Error).message}`);
    }
  };
  return vscode.workspace.registerFileSystemProvider(
    scheme,
    {
      onDidChangeFile: never.event, // a kept content never changes
      watch: () => ({ dispose() {} }),
      readFile: read,
      stat: async (uri) => ({
        type: vscode.FileType.File,
        ctime: 0,
        mtime: 0,
        size: (await read(uri)).byteLength,
        permissions: vscode.FilePermission.Readonly,
      }),
      readDirectory: refuse,
      createDirectory: refuse,
      writeFile: refuse,
      delete: refuse,
      rename: refuse,
    },
    { isReadonly: true, isCaseSensitive: true },
  );
}

/** Opens everything that the patch of a checkpoint changed, in one editor. */
export async function showChanges(checkpoint: Checkpoint): Promise<void> {
  const rows = shownFiles(checkpoint).map(
    (file): [vscode.Uri, vscode.Uri | undefined, vscode.Uri | undefined] => {
      const { before, after } = sidesOf(checkpoint, file);
      const left = contentUri(checkpoint, before.path, before.state);
      const right = contentUri(checkpoint, file.path, after);
      return [fileUriOf(checkpoint, file), left, right];
    },
  );
  await vscode.commands.executeCommand('vscode.changes', `${checkpoint.title} (before ↔ after)`, rows);
}

/** The command that opens what the patch did to one file. */
export function openFileChange(checkpoint: Checkpoint, file: CheckpointFile): vscode.Command {
  const { before, after } = sidesOf(checkpoint, file);
  return {
    title: 'Show Change',
    command: 'vscode.diff',
    arguments: [
      contentUri(checkpoint, before.path, before.state) ?? contentUri(checkpoint, file.path, nothing),
      contentUri(checkpoint, file.path, after) ?? contentUri(checkpoint, file.path, nothing),
      `${onMachine(checkpoint)}${basename(file.path)} (before ↔ after “${checkpoint.title}”)`,
      { preview: true } satisfies vscode.TextDocumentShowOptions,
    ],
  };
}

function sidesOf(
  checkpoint: Checkpoint,
  file: CheckpointFile,
): { readonly before: { readonly path: string; readonly state: FileState }; readonly after: FileState } {
  const source = checkpoint.files.find(({ path }) => path === file.movedFrom);
  const before =
    source === undefined || file.before.kind !== 'missing'
      ? { path: file.path, state: file.before }
      : { path: source.path, state: source.before };
  return { before, after: file.after };
}

/** What the editor takes a file for: the file itself, or for one of another machine only our document. */
export function fileUriOf(checkpoint: Checkpoint, file: CheckpointFile): vscode.Uri {
  const shown = file.after.kind === 'file' ? file.after : file.before;
  return checkpoint.machine === undefined
    ? vscode.Uri.file(file.path)
    : (contentUri(checkpoint, file.path, shown) ?? contentUri(checkpoint, file.path, nothing));
}

const nothing = { kind: 'file', hash: '', size: 0 } as const;

/** Undefined for what has no content. */
function contentUri(checkpoint: Checkpoint, path: string, state: FileState & { kind: 'file' }): vscode.Uri;
function contentUri(checkpoint: Checkpoint, path: string, state: FileState): vscode.Uri | undefined;
function contentUri(checkpoint: Checkpoint, path: string, state: FileState): vscode.Uri | undefined {
  const authority = authorityOf(checkpoint);
  return state.kind === 'file' ? vscode.Uri.from({ scheme, authority, path, query: state.hash }) : undefined;
}
