import * as z from 'zod';

/** Where a server of this machine is, and the session that a program had on it. */
const serverRecord = z.object({
  /** Of its socket. */
  path: z.string(),
  sessionId: z.string(),
});
export type ServerRecord = Readonly<z.infer<typeof serverRecord>>;

/** Outlives the program. The part of the editor's memento that records need. */
export interface RecordStorage {
  get(key: string): unknown;
  update(key: string, value: unknown): PromiseLike<void>;
}

/** The servers that programs for this workspace have started, newest first; several windows can be open on one. */
export class ServerRecords {
  readonly #storage: RecordStorage;

  constructor(storage: RecordStorage) {
    this.#storage = storage;
  }

  list(): readonly ServerRecord[] {
    return z.array(serverRecord).safeParse(this.#storage.get(storageKey)).data ?? [];
  }

  async add(record: ServerRecord): Promise<void> {
    await this.#storage.update(storageKey, [record, ...this.#without(record)].slice(0, mostRecords));
  }

  async remove(record: ServerRecord): Promise<void> {
    await this.#storage.update(storageKey, this.#without(record));
  }

  #without({ path, sessionId }: ServerRecord): readonly ServerRecord[] {
    return this.list().filter((other) => other.path !== path || other.sessionId !== sessionId);
  }
}

const storageKey = 'execServers';
/** More windows than anybody opens on one folder. */
const mostRecords = 16;
