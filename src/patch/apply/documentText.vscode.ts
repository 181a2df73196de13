import * as vscode from 'vscode';
import { textOf } from '../files/documentBytes.vscode.ts';
import type { FileSystem } from '../files/fileSystem.ts';
import type { DocumentUpdate } from './routePlan.vscode.ts';
import { liveDocument, saveExactly } from './saveExactly.vscode.ts';
import type { TextReplacement } from './textReplacements.ts';
import { textReplacements } from './textReplacements.ts';

/** Adds replacements in one document to an edit, under the name that its undo step gets. */
export function setTextEdits(
  edit: vscode.WorkspaceEdit,
  uri: vscode.Uri,
  replacements: readonly TextReplacement[],
  label: string,
): void {
  const metadata = { needsConfirmation: false, label };
  edit.set(
    uri,
    replacements.map(({ start, end, text }): [vscode.TextEdit, vscode.WorkspaceEditEntryMetadata] => [
      vscode.TextEdit.replace(new vscode.Range(start.line, start.character, end.line, end.character), text),
      metadata,
    ]),
  );
}

/**
 * Gives a document its former text and state back; false when the editor refuses. `bytesOnDisk` is what the disk held
 * before, and holds again after this unless it was not reached.
 */
export async function rollBackDocument(
  { document: opened, change, textBefore, wasDirty }: DocumentUpdate,
  wasSaved: boolean,
  bytesOnDisk: Buffer | undefined,
  disk: FileSystem,
): Promise<boolean> {
  const document = liveDocument(opened);
  if (document === undefined) {
    return true;
  }
  const saveIfDirty = async (bytes: Buffer): Promise<boolean> =>
    !document.isDirty || (await saveExactly(document, change.path, bytes, disk)).kind !== 'failed';
  if (!wasDirty) {
    return (await setText(document, textBefore)) && (await saveIfDirty(change.before.bytes));
  }
  const textOnDisk = bytesOnDisk && (await textOf(bytesOnDisk, document.encoding));
  if (wasSaved && !document.isDirty && bytesOnDisk !== undefined && textOnDisk !== undefined) {
    // By way of what the disk held: otherwise the editor would take the file for changed by somebody else.
    if (await setText(document, textOnDisk)) {
      await saveIfDirty(bytesOnDisk);
    }
  }
  return setText(document, textBefore);
}

/** Saving made a file of a document that never was one. The file is gone again; the text must not be. */
export async function reopenUntitled({ document, textBefore }: DocumentUpdate): Promise<void> {
  if (document.isUntitled && document.isClosed) {
    await setText(await vscode.workspace.openTextDocument(document.uri), textBefore);
  }
}

async function setText(document: vscode.TextDocument, text: string): Promise<boolean> {
  const replacements = textReplacements(document.getText(), text, undefined);
  if (replacements.length === 0) {
    return true;
  }
  const edit = new vscode.WorkspaceEdit();
  setTextEdits(edit, document.uri, replacements, 'Take back a patch that could not be applied');
  return vscode.workspace.applyEdit(edit);
}
