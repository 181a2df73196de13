import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/event.ts';
import { localName } from '../../runtime/environments/environment.ts';
import type { ChoiceStorage } from '../rootChoices.ts';

/**
 * Which environment runs the commands of each root: what the person chose for it, else the person's setting. What a
 * workspace says does not count: it could send its commands, and with them its files, to a machine of its choice.
 */
export class EnvironmentChoices implements Disposable {
  readonly #storage: ChoiceStorage;
  readonly #store = new DisposableStore();
  readonly #didChange = this.#store.add(new Emitter<void>());
  readonly onDidChange = this.#didChange.event;

  constructor(storage: ChoiceStorage) {
    this.#storage = storage;
    this.#store.add(
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('cordon.environment')) {
          this.#didChange.fire();
        }
      }),
    );
  }

  environmentOf(rootPath: string): string {
    const chosen = this.chosenFor(rootPath) ?? ownSetting('environment');
    return typeof chosen === 'string' && chosen !== '' ? chosen : localName;
  }

  /** What was chosen for the root itself. */
  chosenFor(rootPath: string): string | undefined {
    const chosen = this.#all()[rootPath];
    return typeof chosen === 'string' ? chosen : undefined;
  }

  /** Undefined: the setting decides. */
  async choose(rootPath: string, name: string | undefined): Promise<void> {
    const choices = new Map(Object.entries(this.#all()));
    if (name === undefined) {
      choices.delete(rootPath);
    } else {
      choices.set(rootPath, name);
    }
    await this.#storage.update(storageKey, Object.fromEntries(choices));
    this.#didChange.fire();
  }

  dispose(): void {
    this.#store.dispose();
  }

  #all(): Readonly<Record<string, unknown>> {
    const stored = this.#storage.get(storageKey);
    return typeof stored === 'object' && stored !== null ? (stored as Record<string, unknown>) : {};
  }
}

/** The value of `cordon.environments`, as the person wrote it. */
export function readEnvironments(): unknown {
  return ownSetting('environments');
}

function ownSetting(name: string): unknown {
  return vscode.workspace.getConfiguration('cordon').inspect(name)?.globalValue;
}

const storageKey = 'environments';
