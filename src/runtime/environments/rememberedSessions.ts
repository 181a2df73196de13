import * as z from 'zod';
import type { Log } from '../../base/log.ts';
import type { SessionMemory } from './environment.ts';
import type { RecordStorage } from './local/serverRecords.ts';

/** Remembers sessions in the editor's memento of the workspace. */
export class RememberedSessions implements SessionMemory {
  readonly #storage: RecordStorage;
  readonly #log: Log;

  constructor(storage: RecordStorage, log: Log) {
    this.#storage = storage;
    this.#log = log;
  }

  sessionOf(name: string): string | undefined {
    return this.#all().get(name);
  }

  remember(name: string, sessionId: string | undefined): void {
    const all = new Map(this.#all());
    if (sessionId === undefined) {
      all.delete(name);
    } else {
      all.set(name, sessionId);
    }
    this.#storage.update(storageKey, Object.fromEntries(all)).then(undefined, (cause: unknown) => {
      this.#log.warn(`The session on ${name} will not be found again: ${String(cause)}`);
    });
  }

  #all(): ReadonlyMap<string, string> {
    const stored = z.record(z.string(), z.string()).safeParse(this.#storage.get(storageKey));
    return new Map(Object.entries(stored.data ?? {}));
  }
}

const storageKey = 'remoteSessions';
