import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Root } from '../../runtime/roots.ts';
import { managedPolicyPath } from '../../sandbox/policy/managedPolicy.ts';
import { commandIds } from '../commands/commandIds.ts';
import type { Change } from './change.ts';
import { withoutLinks } from '../oneLine.ts';

/** Leads the person to where something of a root's policy is changed; where it is not their word, says whose it is. */
export async function makeChange(change: Change, root: Root): Promise<void> {
  switch (change.kind) {
    case 'picker':
    case 'trust':
      // In an untrusted workspace this is what offers trust.
      await vscode.commands.executeCommand(commandIds.changeSandbox, { root });
      break;
    case 'setting':
      await vscode.commands.executeCommand('workbench.action.openSettings', change.name);
      break;
    case 'file':
      await openFile(change.path, change.line);
      break;
    case 'workspace':
      await offer(
        'The settings of the workspace itself are stricter than yours here, and outrank them.',
        'Open Workspace Settings',
        () => openWorkspaceSettings(change.setting, root),
      );
      break;
    case 'managed': {
      const { path = managedPolicyPath(process.platform), line = 1 } = change;
      await offer(`The administrator of this machine decides this, in ${path}.`, 'Open File', () =>
        openFile(path, line),
      );
      break;
    }
  }
}

async function offer(message: string, action: string, act: () => Promise<void>): Promise<void> {
  if ((await vscode.window.showInformationMessage(withoutLinks(message), action)) === action) {
    await act();
  }
}

async function openFile(path: string, line: number): Promise<void> {
  const position = new vscode.Position(Math.max(0, line - 1), 0);
  await vscode.window.showTextDocument(vscode.Uri.file(path), {
    selection: new vscode.Range(position, position),
  });
}

/** Those of the folder where they say it, else those of the whole workspace. */
async function openWorkspaceSettings(setting: string, root: Root): Promise<void> {
  const folder = vscode.Uri.file(root.path);
  const found = vscode.workspace.getConfiguration(undefined, folder).inspect(setting);
  const isOfFolder =
    found?.workspaceFolderValue !== undefined || vscode.workspace.workspaceFile === undefined;
  if (isOfFolder) {
    await openFile(join(root.path, '.vscode', 'settings.json'), 1);
  } else {
    await vscode.commands.executeCommand('workbench.action.openWorkspaceSettingsFile');
  }
}
