import * as vscode from 'vscode';
import { bytesOf } from '../files/documentBytes.vscode.ts';
import type { FileSystem } from '../files/fileSystem.ts';
import { causeOf, fileErrorCode } from '../plan/ioErrors.ts';
import { untilText } from './untilText.vscode.ts';

/** What became of saving. */
export type SaveOutcome =
  | { readonly kind: 'exact' }
  /** The settings for saving (format on save, trailing white space) changed it; the exact bytes were put back. */
  | { readonly kind: 'repaired' }
  | { readonly kind: 'failed'; readonly reason: string };

/**
 * Saves a document so that the disk holds exactly `bytes`, which are those of its text. Savings cannot be done without
 * the person's settings for it: where they change the file, it is written once more behind the editor's back, and the
 * document, then without unsaved changes, follows.
 */
export async function saveExactly(
  opened: vscode.TextDocument,
  path: string,
  bytes: Buffer,
  disk: FileSystem,
): Promise<SaveOutcome> {
  const document = liveDocument(opened) ?? opened;
  const text = document.getText();
  if (!(await save(document))) {
    const reason =
      'the editor could not save it: it is read-only, or it was changed on disk while it had unsaved changes';
    return { kind: 'failed', reason };
  }
  try {
    const saved = await disk.read(path);
    if (saved.equals(bytes)) {
      return { kind: 'exact' };
    }
    const isByEditor = document.isClosed || saved.equals(await bytesOf(document));
    if (!isByEditor) {
      return { kind: 'failed', reason: 'another program changed it at the same moment' };
    }
    await writeFile(path, bytes, disk);
  } catch (error) {
    return { kind: 'failed', reason: causeOf(fileErrorCode(error)) };
  }
  await untilText(document, text);
  return { kind: 'repaired' };
}

async function writeFile(path: string, bytes: Buffer, disk: FileSystem): Promise<void> {
  const staged = await disk.stage({ kind: 'write', path, expected: await disk.stat(path), bytes });
  try {
    await staged.commit();
  } finally {
    await staged.release();
  }
}

/**
 * The document as it is now. The editor closes documents without a tab when there are many, and makes new ones when an
 * edit needs them.
 */
export function liveDocument(document: vscode.TextDocument): vscode.TextDocument | undefined {
  const address = document.uri.toString();
  return document.isClosed
    ? vscode.workspace.textDocuments.find((other) => !other.isClosed && other.uri.toString() === address)
    : document;
}

async function save(document: vscode.TextDocument): Promise<boolean> {
  try {
    return await document.save();
  } catch {
    return false; // closed meanwhile
  }
}
