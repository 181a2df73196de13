import type * as vscode from 'vscode';
import { bytesOf, textOf } from './documentBytes.vscode.ts';
import { dirtyDocumentsAt } from './editorPaths.vscode.ts';
import { FileError } from './fileSystem.ts';
import type { Entry, FileChange, FileOperation, FileSystem } from './fileSystem.ts';

/**
 * The disk as the person sees it: where a document has unsaved changes, or was never saved, its text is the file's
 * content. Such files cannot be staged here: they are changed through their document.
 */
export function createEditorFileSystem(disk: FileSystem): FileSystem {
  return {
    async stat(path) {
      const document = await dirtyDocumentAt('stat', path);
      const entry = await disk.stat(path);
      return document === undefined ? entry : statOf(document, entry, path);
    },
    async read(path) {
      const document = await dirtyDocumentAt('read', path);
      return document === undefined ? disk.read(path) : readBuffer('read', path, document);
    },
    async stage(change) {
      for (const path of pathsOf(change)) {
        if ((await dirtyDocumentAt('write', path)) !== undefined) {
          throw new FileError('write', path, 'EBUSY');
        }
      }
      return disk.stage(change);
    },
  };
}

async function dirtyDocumentAt(
  operation: FileOperation,
  path: string,
): Promise<vscode.TextDocument | undefined> {
  const [document, ...others] = await dirtyDocumentsAt(path);
  if (others.length > 0) {
    throw new FileError(operation, path, 'EBUSY'); // which of the texts is the file's is not for us to say
  }
  return document;
}

async function statOf(document: vscode.TextDocument, entry: Entry, path: string): Promise<Entry> {
  if (entry.kind === 'folder' || entry.kind === 'other' || entry.kind === 'link') {
    return entry;
  }
  const onDisk = entry.kind === 'file' ? entry : { mode: defaultMode, version: 'missing' };
  return {
    kind: 'file',
    mode: onDisk.mode,
    size: (await readBuffer('stat', path, document)).length,
    version: `${document.uri.toString()} ${document.version} ${onDisk.version}`,
  };
}

/** Of a file that the editor is still to make. */
const defaultMode = 0o644;

async function readBuffer(
  operation: FileOperation,
  path: string,
  document: vscode.TextDocument,
): Promise<Buffer> {
  const bytes = await bytesOf(document);
  if ((await textOf(bytes, document.encoding)) !== document.getText()) {
    throw new FileError(operation, path, 'EILSEQ');
  }
  return bytes;
}

function pathsOf(change: FileChange): readonly string[] {
  return change.kind === 'rename' ? [change.path, change.toPath] : [change.path];
}
