import * as vscode from 'vscode';

/**
 * The row that has the focus, which is what keys mean. The editor tells an extension only what is selected: toggling
 * the selection of the focused row says which one that is, and toggling it again leaves all as it was.
 */
export async function focusedRow<T>(view: vscode.TreeView<T>): Promise<T | undefined> {
  const before = view.selection;
  await toggleSelection();
  const after = view.selection;
  await toggleSelection();
  return after.find((row) => !before.includes(row)) ?? before.find((row) => !after.includes(row));
}

function toggleSelection(): Thenable<unknown> {
  return vscode.commands.executeCommand('list.toggleSelection');
}
