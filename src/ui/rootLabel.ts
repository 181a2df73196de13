import { basename } from 'node:path';
import * as vscode from 'vscode';

/** How rows name a root in front of something of it: not at all while there is only one. */
export function rootLabel(path: string): string {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const name = folders.find(({ uri }) => uri.fsPath === path)?.name ?? basename(path);
  return folders.length > 1 ? `${name} · ` : '';
}
