import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open, readlink, stat } from 'node:fs/promises';

/**
 * The folder that a part of a script wants to run in, held open from the question on: whatever the script moves or
 * links meanwhile, it is the folder that the person was asked about.
 */
export class WorkFolder {
  readonly path: string;
  readonly #handle: FileHandle;

  private constructor(path: string, handle: FileHandle) {
    this.path = path;
    this.#handle = handle;
  }

  /** Undefined when there is no such folder, or its path leads over a symbolic link. */
  static async open(path: string): Promise<WorkFolder | undefined> {
    const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
    const handle = await open(path, flags).catch(() => undefined);
    if (handle === undefined) {
      return undefined;
    }
    const folder = new WorkFolder(path, handle);
    if (await folder.isInPlace()) {
      return folder;
    }
    await folder.close();
    return undefined;
  }

  /** Leads to the very folder, for processes that this one starts. */
  get place(): string {
    return `/proc/self/fd/${this.#handle.fd}`;
  }

  /** Whether its path still leads to it, over no link. */
  async isInPlace(): Promise<boolean> {
    const [own, named] = await Promise.all([this.#handle.stat(), stat(this.path).catch(() => undefined)]);
    const isSame = own.ino === named?.ino && own.dev === named.dev;
    return isSame && (await readlink(this.place)) === this.path;
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}
