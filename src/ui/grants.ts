import type { Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import type { UncheckedSettings } from '../sandbox/policy/input.ts';

/** What a person chose for one root in the editor. It is kept by the extension, out of the workspace's reach. */
export interface Grant extends UncheckedSettings {
  /** The name of a profile, in place of the one that the settings choose. */
  readonly profile?: unknown;
}

/** The part of the editor's memento that grants need. */
export interface GrantStorage {
  get(key: string): unknown;
  update(key: string, value: unknown): PromiseLike<void>;
}

/** The grants of all roots, by the root's canonical path. */
export class Grants implements Disposable {
  readonly #storage: GrantStorage;
  readonly #didChange = new Emitter<void>();
  readonly onDidChange = this.#didChange.event;

  constructor(storage: GrantStorage) {
    this.#storage = storage;
  }

  /** The value as it was stored: whoever resolves a policy checks it like any setting. */
  get(rootPath: string): Grant | undefined {
    return this.#all()[rootPath];
  }

  async set(rootPath: string, grant: Grant | undefined): Promise<void> {
    const grants = new Map(Object.entries(this.#all()));
    if (grant === undefined) {
      grants.delete(rootPath);
    } else {
      grants.set(rootPath, grant);
    }
    await this.#storage.update(storageKey, Object.fromEntries(grants));
    this.#didChange.fire();
  }

  dispose(): void {
    this.#didChange.dispose();
  }

  #all(): Readonly<Record<string, Grant>> {
    const stored = this.#storage.get(storageKey);
    return typeof stored === 'object' && stored !== null ? (stored as Record<string, Grant>) : {};
  }
}

const storageKey = 'grants';
