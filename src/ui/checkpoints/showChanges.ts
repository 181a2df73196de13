import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { Disposable } from '../../base/disposable.ts';
import type { Checkpoint, CheckpointFile, FileState } from '../../patch/checkpoint/checkpoint.ts';
import type { CheckpointStore } from '../../patch/checkpoint/checkpointStore.ts';
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
      return [
        vscode.Uri.file(file.path),
        contentUri(before.path, before.state),
        contentUri(file.path, after),
      ];
    },
  );
  await vscode.commands.executeCommand('vscode.changes', `${checkpoint.title} (before ↔ after)`, rows);
}

/** The command that opens what the patch did to one file. */
export function openFileChange(checkpoint: Checkpoint, file: CheckpointFile): vscode.Command {
  const { before, after } = sidesOf(checkpoint, file);
  const empty = { kind: 'file', hash: '', size: 0 } as const;
  return {
    title: 'Show Change',
    command: 'vscode.diff',
    arguments: [
      contentUri(before.path, before.state) ?? contentUri(file.path, empty),
      contentUri(file.path, after) ?? contentUri(file.path, empty),
      `${basename(file.path)} (before ↔ after “${checkpoint.title}”)`,
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

/** Undefined for what has no content. */
function contentUri(path: string, state: FileState): vscode.Uri | undefined {
  return state.kind === 'file' ? vscode.Uri.from({ scheme, path, query: state.hash }) : undefined;
}
