import * as vscode from 'vscode';
import type { Disposable } from '../../base/disposable.ts';
import type { Environment, EnvironmentError } from '../../runtime/environments/environment.ts';
import { environmentsSetting } from '../../runtime/environments/environments.ts';
import type { Environments } from '../../runtime/environments/environments.ts';
import { commandIds } from '../commands/commandIds.ts';
import { curesFor } from './environmentWords.ts';
import { withoutLinks } from '../oneLine.ts';

/** Connections that take no longer show no progress. */
const patienceMs = 1_000;

/** Tells a person when a connection takes long, and when there is none. */
export class EnvironmentNotices implements Disposable {
  readonly #environments: Environments;
  readonly #subscription: Disposable;
  /** The state of each that was told about, or is being waited with. */
  readonly #seen = new Map<Environment, Environment['state']>();
  /** Those whose connection was given up by the person just now. */
  readonly #cancelled = new WeakSet<Environment>();

  constructor(environments: Environments) {
    this.#environments = environments;
    this.#subscription = environments.onDidChange(() => this.#look());
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#seen.clear();
  }

  #look(): void {
    const all = this.#environments.list();
    for (const environment of this.#seen.keys()) {
      if (!all.includes(environment)) {
        this.#seen.delete(environment);
      }
    }
    for (const environment of all) {
      const { state } = environment;
      if (this.#seen.get(environment) !== state) {
        this.#seen.set(environment, state);
        if (state.kind === 'connecting') {
          setTimeout(() => this.#showProgress(environment, state), patienceMs);
        } else if (state.kind === 'failed' && !this.#cancelled.delete(environment)) {
          void showFailure(environment, state.error);
        }
      }
    }
  }

  #showProgress(environment: Environment, state: Environment['state']): void {
    if (environment.state !== state || this.#seen.get(environment) !== state) {
      return;
    }
    const { name, address } = environment;
    void vscode.window.withProgress(
      {
        location: vscode.ProgressLocation.Notification,
        title: `Cordon: connecting to ${name === address ? name : `${name} (${address})`}…`,
        cancellable: environment.cancel !== undefined,
      },
      (_, token) =>
        new Promise<void>((resolve) => {
          token.onCancellationRequested(() => {
            // Who cancels needs no word about it.
            this.#cancelled.add(environment);
            environment.cancel?.();
          });
          const subscription = environment.onDidChangeState(() => {
            subscription.dispose();
            resolve();
          });
        }),
    );
  }
}

const retry = 'Retry';
const buttons = { settings: 'Open Settings', log: 'Show Log' } as const;

async function showFailure(environment: Environment, error: EnvironmentError): Promise<void> {
  const cures = curesFor(error).map((cure) => buttons[cure]);
  const answer = await vscode.window.showErrorMessage(
    withoutLinks(`Cordon: ${error.message} ${error.hint}`),
    // Also after a wrong setting: it may be about a file that can be mended outside of the settings.
    retry,
    ...cures,
  );
  if (answer === retry) {
    environment.prewarm();
  } else if (answer === buttons.settings) {
    await vscode.commands.executeCommand('workbench.action.openSettings', environmentsSetting);
  } else if (answer === buttons.log) {
    await vscode.commands.executeCommand(commandIds.showLog);
  }
}
