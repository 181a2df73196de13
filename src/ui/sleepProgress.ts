import * as vscode from 'vscode';
import { DisposableStore } from '../base/disposable.ts';
import type { Disposable } from '../base/disposable.ts';
import type { SleepItem, Sleeps } from '../runtime/tools/sleep.ts';
import { commandIds } from './commands/commandIds.ts';

/** Shows in the status bar that an agent sleeps and until when, and registers the command that wakes it. */
export function registerSleepProgress(sleeps: Sleeps): Disposable {
  const store = new DisposableStore();
  const ends = new Map<number, () => void>();
  store.add(
    sleeps.onItem((item) => {
      void setContext(sleeps);
      if (item.kind === 'started') {
        void showUntilDone(item, (end) => ends.set(item.id, end));
      } else {
        ends.get(item.id)?.();
        ends.delete(item.id);
      }
    }),
  );
  store.add(vscode.commands.registerCommand(commandIds.wakeAgent, () => sleeps.interruptAll()));
  return store;
}

function showUntilDone(
  { durationMs }: SleepItem & { kind: 'started' },
  onStart: (end: () => void) => void,
): Thenable<void> {
  const until = new Date(Date.now() + durationMs).toLocaleTimeString();
  return vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: vscode.l10n.t('Agent sleeps until {0}', until) },
    () => new Promise<void>((resolve) => onStart(resolve)),
  );
}

/** The palette offers to wake somebody only while somebody sleeps. */
async function setContext(sleeps: Sleeps): Promise<void> {
  await vscode.commands.executeCommand('setContext', 'cordon.isAgentSleeping', sleeps.count > 0);
}
