import type { Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import type { UncheckedSettings } from '../sandbox/policy/input.ts';

/** What a person chose for one root in the editor. It is kept by the extension, out of the workspace's reach. */
export interface RootChoice extends UncheckedSettings {
  /** The name of a profile, in place of the one that the settings choose. */
  readonly profile?: unknown;
}

/** The part of the editor's memento that choices need. */
export interface ChoiceStorage {
  get(key: string): unknown;
  update(key: string, value: unknown): PromiseLike<void>;
}

/** The choices for all roots, by the root's canonical path. */
export class RootChoices implements Disposable {
  readonly #storage: ChoiceStorage;
  readonly #didChange = new Emitter<void>();
  readonly onDidChange = this.#didChange.event;

  constructor(storage: ChoiceStorage) {
    this.#storage = storage;
  }

  /** The value as it was stored: whoever resolves a policy checks it like any setting. */
  get(rootPath: string): RootChoice | undefined {
    return this.#all()[rootPath];
  }

  async set(rootPath: string, choice: RootChoice | undefined): Promise<void> {
    const choices = new Map(Object.entries(this.#all()));
    if (choice === undefined) {
      choices.delete(rootPath);
    } else {
      choices.set(rootPath, choice);
    }
    await this.#storage.update(storageKey, Object.fromEntries(choices));
    this.#didChange.fire();
  }

  dispose(): void {
    this.#didChange.dispose();
  }

  #all(): Readonly<Record<string, RootChoice>> {
    const stored = this.#storage.get(storageKey);
    return typeof stored === 'object' && stored !== null ? (stored as Record<string, RootChoice>) : {};
  }
}

const storageKey = 'grants';
