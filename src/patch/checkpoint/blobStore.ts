import { createHash } from 'node:crypto';
import { readFile, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { writeAtomically } from './writeAtomically.ts';

/** Contents in a folder, each under its SHA-256. */
export class BlobStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Writes a content unless it is there; then it counts as new again. */
  async write(hash: string, bytes: Uint8Array): Promise<void> {
    const path = this.#path(hash);
    const known = await stat(path).catch(() => undefined);
    if (known?.size !== bytes.length) {
      await writeAtomically(path, bytes);
      return;
    }
    const now = new Date();
    // Gone meanwhile: another editor found it unused.
    await utimes(path, now, now).catch(() => writeAtomically(path, bytes));
  }

  async read(hash: string): Promise<Buffer> {
    const path = this.#path(hash);
    const bytes = await readFile(path);
    if (createHash('sha256').update(bytes).digest('hex') !== hash) {
      throw new Error(`${path} is damaged: its content is not the one that was kept.`);
    }
    return bytes;
  }

  /** Removes what is not used and was last written before `time`, half-written files included. */
  async removeExcept(used: ReadonlySet<string>, time: number): Promise<void> {
    for (const group of await readdir(this.#folder).catch(() => [])) {
      for (const name of await readdir(join(this.#folder, group))) {
        const path = join(this.#folder, group, name);
        if (!used.has(name) && ((await stat(path).catch(() => undefined))?.mtimeMs ?? time) < time) {
          await rm(path, { force: true });
        }
      }
    }
  }

  #path(hash: string): string {
    return join(this.#folder, hash.slice(0, 2), hash);
  }
}
