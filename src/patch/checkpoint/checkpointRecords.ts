import { readFile, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../base/log.ts';
import { checkpointSchema } from './checkpoint.ts';
import type { Checkpoint } from './checkpoint.ts';
import { temporarySuffix, writeAtomically } from './writeAtomically.ts';

/** The records of checkpoints: one JSON file each. */
export class CheckpointRecords {
  readonly #folder: string;
  readonly #log: Log;
  /** A record never changes, so each is parsed once. */
  readonly #known = new Map<string, Checkpoint | undefined>();

  constructor(folder: string, log: Log) {
    this.#folder = folder;
    this.#log = log;
  }

  /** Newest first. Unreadable and half-written files last changed before `removeBefore` are removed. */
  async readAll(
    removeBefore = -Infinity,
  ): Promise<{ readonly checkpoints: readonly Checkpoint[]; readonly hasUnreadable: boolean }> {
    const checkpoints: Checkpoint[] = [];
    let hasUnreadable = false;
    for (const name of await this.#names()) {
      const checkpoint = name.endsWith('.json') ? await this.#read(name) : undefined;
      if (checkpoint !== undefined) {
        checkpoints.push(checkpoint);
      } else if (((await stat(this.#path(name)).catch(() => undefined))?.mtimeMs ?? 0) < removeBefore) {
        await rm(this.#path(name), { force: true });
      } else {
        hasUnreadable ||= !name.endsWith(temporarySuffix);
      }
    }
    const newestFirst = (a: Checkpoint, b: Checkpoint): number =>
      Date.parse(b.createdAt) - Date.parse(a.createdAt);
    return { checkpoints: checkpoints.sort(newestFirst), hasUnreadable };
  }

  async write(checkpoint: Checkpoint): Promise<void> {
    await writeAtomically(this.#path(`${checkpoint.id}.json`), Buffer.from(JSON.stringify(checkpoint)));
  }

  async remove(id: string): Promise<void> {
    await rm(this.#path(`${id}.json`), { force: true });
  }

  async #names(): Promise<readonly string[]> {
    try {
      return await readdir(this.#folder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
        return [];
      }
      throw error;
    }
  }

  async #read(name: string): Promise<Checkpoint | undefined> {
    if (!this.#known.has(name)) {
      try {
        const text = await readFile(this.#path(name), 'utf8');
        const checkpoint = checkpointSchema.parse(JSON.parse(text));
        if (name !== `${checkpoint.id}.json`) {
          throw new Error(`it says that its id is ${checkpoint.id}`);
        }
        this.#known.set(name, checkpoint);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
          return undefined; // removed by another editor since the listing
        }
        this.#log.warn(`the checkpoint ${this.#path(name)} cannot be read: ${String(error)}`);
        this.#known.set(name, undefined);
      }
    }
    return this.#known.get(name);
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }
}
