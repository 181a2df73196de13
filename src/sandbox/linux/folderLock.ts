import { readlinkSync, renameSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode } from '../paths.ts';
import { formatIdentity, mayBeAlive, ownIdentity, parseIdentity } from './processIdentity.ts';

const retryMs = 2;
const patienceMs = 5_000;

/** One holder at a time among all processes that use the folder; within a process in order of arrival. */
export class FolderLock {
  readonly #path: string;
  #last: Promise<unknown> = Promise.resolve();

  constructor(folder: string) {
    this.#path = join(folder, 'lock');
  }

  /** Runs the action while holding the lock. Throws when another process keeps it for more than 5 seconds. */
  run<T>(action: () => T): Promise<T> {
    const result = this.#last.then(async () => {
      await this.#acquire();
      try {
        return action();
      } finally {
        unlinkSync(this.#path);
      }
    });
    this.#last = result.catch(() => undefined);
    return result;
  }

  /**
   * A symbolic link is made atomically and tells its owner at once. Node has no flock(2), hence the short waits;
   * they only happen when two processes meet within the fraction of a millisecond that the lock is held.
   */
  async #acquire(): Promise<void> {
    const own = formatIdentity(ownIdentity());
    const deadline = Date.now() + patienceMs;
    for (;;) {
      try {
        symlinkSync(own, this.#path);
        return;
      } catch (error) {
        if (errorCode(error) !== 'EEXIST') {
          throw error;
        }
      }
      if (!this.#breakStale(own)) {
        if (Date.now() > deadline) {
          throw new Error(`${this.#path} is held by another process for more than ${patienceMs} ms`);
        }
        await delay(retryMs);
      }
    }
  }

  /** True when the owner had died and the lock was taken away. */
  #breakStale(own: string): boolean {
    try {
      const owner = readlinkSync(this.#path);
      const identity = parseIdentity(owner);
      if (identity !== undefined && mayBeAlive(identity)) {
        return false;
      }
      // Moved aside first: of several that find it stale, one succeeds.
      const aside = `${this.#path}-${own}`;
      renameSync(this.#path, aside);
      if (readlinkSync(aside) !== owner) {
        renameSync(aside, this.#path);
        return false;
      }
      unlinkSync(aside);
      return true;
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') {
        throw error;
      }
      return true;
    }
  }
}
