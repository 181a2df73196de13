/** The part of the editor's memento that the history needs. */
export interface HistoryStorage {
  get(key: string): unknown;
  update(key: string, value: unknown): PromiseLike<void>;
}

/** The command lines that were run by hand in this workspace, newest first, each once. */
export class CommandHistory {
  readonly #storage: HistoryStorage;

  constructor(storage: HistoryStorage) {
    this.#storage = storage;
  }

  list(): readonly string[] {
    const stored = this.#storage.get(storageKey);
    return Array.isArray(stored) ? stored.filter((entry) => typeof entry === 'string') : [];
  }

  async remember(commandLine: string): Promise<void> {
    const others = this.list().filter((entry) => entry !== commandLine);
    await this.#storage.update(storageKey, [commandLine, ...others].slice(0, maxEntries));
  }

  async forget(commandLine: string): Promise<void> {
    await this.#storage.update(
      storageKey,
      this.list().filter((entry) => entry !== commandLine),
    );
  }
}

const storageKey = 'commandHistory';
const maxEntries = 50;
