import * as vscode from 'vscode';
import type { Disposable } from '../base/disposable.ts';
import { commandIds } from './commands/commandIds.ts';

/** Registers the command that opens the walkthrough of the manifest. */
export function registerMeetYourSandbox(extensionId: string): Disposable {
  return vscode.commands.registerCommand(commandIds.meetYourSandbox, () =>
    vscode.commands.executeCommand(
      'workbench.action.openWalkthrough',
      `${extensionId}#${commandIds.meetYourSandbox}`,
      false,
    ),
  );
}
