import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open, readlink, stat } from 'node:fs/promises';

/** What tells a folder from every other one of the machine, for as long as somebody holds it open; decimal numbers. */
export interface FolderIdentity {
  readonly device: string;
  readonly inode: string;
}

/**
 * The folder that a part of a script wants to run in, held open from the question on: whatever the script moves or
 * links meanwhile, it is the folder that the person was asked about.
 */
export class WorkFolder {
  readonly path: string;
  readonly identity: FolderIdentity;
  readonly #handle: FileHandle;

  private constructor(path: string, handle: FileHandle, identity: FolderIdentity) {
    this.path = path;
    this.identity = identity;
    this.#handle = handle;
  }

  /** Undefined when there is no such folder, or its path leads over a symbolic link. */
  static async open(path: string): Promise<WorkFolder | undefined> {
    const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
    const handle = await open(path, flags).catch(() => undefined);
    if (handle === undefined) {
      return undefined;
    }
    const folder = new WorkFolder(path, handle, identityOf(await handle.stat({ bigint: true })));
    if (await folder.isInPlace()) {
      return folder;
    }
    await folder.close();
    return undefined;
  }

  /** Leads to the very folder, for processes that this one starts, by its spawner or itself. */
  get place(): string {
    return `/proc/${process.pid}/fd/${this.#handle.fd}`;
  }

  /** Whether its path still leads to it, over no link. */
  async isInPlace(): Promise<boolean> {
    const named = await stat(this.path, { bigint: true }).catch(() => undefined);
    return named !== undefined && this.is(identityOf(named)) && (await readlink(this.place)) === this.path;
  }

  is({ device, inode }: FolderIdentity): boolean {
    return device === this.identity.device && inode === this.identity.inode;
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

function identityOf({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }): FolderIdentity {
  return { device: String(dev), inode: String(ino) };
}
