import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import { sandboxErrorPage } from '../sandboxHelp.ts';
import type { SandboxHealth } from '../sandboxHealth.ts';
import { commandIds } from './commandIds.ts';

/** Registers the commands that tell whether the sandbox works here, and why not. */
export function registerCheckSandbox(health: SandboxHealth): Disposable {
  const store = new DisposableStore();
  let page = '';
  store.add(
    vscode.workspace.registerTextDocumentContentProvider(scheme, { provideTextDocumentContent: () => page }),
  );
  store.add(vscode.commands.registerCommand(commandIds.checkSandbox, () => checkSandbox(health)));
  store.add(
    vscode.commands.registerCommand(commandIds.explainSandboxError, async () => {
      const answer = await health.check();
      if (answer.ok) {
        await checkSandbox(health);
        return;
      }
      page = sandboxErrorPage(answer.error);
      // A new address each time: the editor keeps what an open address once showed.
      const uri = vscode.Uri.from({ scheme, path: '/Cordon Sandbox.md', query: String(Date.now()) });
      // As text, not as a preview: a preview is a webview, which needs more of the machine than this page may ask.
      await vscode.window.showTextDocument(uri, { preview: true });
    }),
  );
  return store;
}

const scheme = 'cordon-help';

async function checkSandbox(health: SandboxHealth): Promise<void> {
  const answer = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: 'Trying the sandbox' },
    () => health.recheck(),
  );
  if (answer.ok) {
    const { launcher, version, path } = answer.value;
    await vscode.window.showInformationMessage(`The sandbox works: ${launcher} ${version} (${path}).`);
    return;
  }
  await showSandboxError(`${answer.error.message} ${answer.error.hint}`);
}

/** Tells that nothing can run confined, with the way to the explanation. */
export async function showSandboxError(message: string): Promise<void> {
  const explain = 'Explain';
  if ((await vscode.window.showErrorMessage(message, explain)) === explain) {
    await vscode.commands.executeCommand(commandIds.explainSandboxError);
  }
}
