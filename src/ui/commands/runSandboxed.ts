import * as vscode from 'vscode';
import type { Disposable } from '../../base/disposable.ts';
import type { Root } from '../../runtime/roots.ts';
import type { PolicyStore } from '../policyStore.ts';
import { askCommandLine } from './askCommandLine.ts';
import type { CommandHistory } from './commandHistory.ts';
import { commandIds } from './commandIds.ts';
import { pickRoot } from './pickRoot.ts';
import type { RunInTerminalOptions } from './runInTerminal.ts';
import { runInTerminal } from './runInTerminal.ts';
import { tellNoTerminals } from '../tellNoTerminals.ts';

export interface RunSandboxedOptions extends RunInTerminalOptions {
  readonly history: CommandHistory;
}

/** Registers the command that runs a command line under a root's policy, in a terminal. */
export function registerRunSandboxed(options: RunSandboxedOptions): Disposable {
  return vscode.commands.registerCommand(commandIds.runSandboxed, async (folder?: unknown) => {
    if (!vscode.workspace.isTrusted) {
      await tellNoTerminals();
      return;
    }
    const place = await choosePlace(options.policies, folder);
    if (place === undefined) {
      return;
    }
    options.runtime.prewarm(place.root);
    const commandLine = await askCommandLine(`Run in ${place.label}`, options.history);
    if (commandLine !== undefined) {
      await options.history.remember(commandLine);
      await runInTerminal(options, { root: place.root, commandLine, cwd: place.cwd });
    }
  });
}

interface Place {
  readonly root: Root;
  readonly cwd: string;
  readonly label: string;
}

async function choosePlace(policies: PolicyStore, folder: unknown): Promise<Place | undefined> {
  if (policies.list().length === 0) {
    await vscode.window.showErrorMessage(
      'Open a folder of this machine first: commands run inside a folder.',
    );
    return undefined;
  }
  if (folder instanceof vscode.Uri) {
    const root = policies.rootOf(folder);
    const relative = vscode.workspace.asRelativePath(folder, true);
    return root && { root, cwd: folder.fsPath, label: relative === folder.fsPath ? root.name : relative };
  }
  const root = await pickRoot(policies, 'Which folder does the command run in?');
  return root && { root, cwd: root.path, label: root.name };
}
