import type * as vscode from 'vscode';
import { bytesOf } from '../files/documentBytes.vscode.ts';
import type { FileSystem } from '../files/fileSystem.ts';
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
  document: vscode.TextDocument,
  path: string,
  bytes: Buffer,
  disk: FileSystem,
): Promise<SaveOutcome> {
  const text = document.getText();
  if (!(await save(document))) {
    const reason =
      'the editor could not save it: it is read-only, or it was changed on disk while it had unsaved changes';
    return { kind: 'failed', reason };
  }
  const saved = await disk.read(path);
  if (saved.equals(bytes)) {
    return { kind: 'exact' };
  }
  const isByEditor = document.isClosed || saved.equals(await bytesOf(document));
  if (!isByEditor) {
    return { kind: 'failed', reason: 'another program changed it at the same moment' };
  }
  const staged = await disk.stage({ kind: 'write', path, expected: await disk.stat(path), bytes });
  try {
    await staged.commit();
  } finally {
    await staged.release();
  }
  await untilText(document, text);
  return { kind: 'repaired' };
}

async function save(document: vscode.TextDocument): Promise<boolean> {
  try {
    return await document.save();
  } catch {
    return false; // closed meanwhile
  }
}
