import { readdir, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCodes, RpcError } from '../../../protocol/errors.ts';
import type { Held, Links } from '../held.ts';
import { atIn, holding, holdingIn, inPlace } from '../held.ts';
import type { Judge } from '../judge.ts';
import { codeOf, SystemError } from '../osErrors.ts';

export interface RemoveOptions {
  readonly recursive: boolean;
  readonly force: boolean;
}

/** Removes what is at a path: of a link, the link, unless `none` are wanted. Folders are emptied through descriptors, so nothing leads out. */
export async function remove(
  path: string,
  { recursive, force }: RemoveOptions,
  links: Links,
  judge: Judge,
): Promise<void> {
  if (recursive && links === 'none') {
    throw new RpcError(errorCodes.internal, 'recursive no-follow removal is unsupported');
  }
  try {
    await inPlace(path, links === 'none' ? 'none' : 'folders', async (place) => {
      judge.write(place.path);
      const isFolder = await holding(place.at, 'folders', async (held) => {
        if (held.stats.isSymbolicLink() && links === 'none') {
          throw new RpcError(errorCodes.invalidRequest, 'path contains a symbolic link');
        }
        const folder = { ...held, path: place.path };
        if (held.stats.isDirectory() && recursive) {
          await removeContents(folder, judge);
        }
        return held.stats.isDirectory();
      });
      await (isFolder ? rmdir(place.at) : unlink(place.at));
    });
  } catch (error) {
    if (!(force && codeOf(error) === 'ENOENT')) {
      throw error;
    }
  }
}

async function removeContents(folder: Held, judge: Judge): Promise<void> {
  // Names as bytes: not every name is UTF-8.
  for (const name of await readdir(folder.at, { encoding: 'buffer' })) {
    judge.write(join(folder.path, String(name)));
    try {
      await removeEntry(folder, name, judge);
    } catch (error) {
      // Somebody else removed it.
      if (codeOf(error) !== 'ENOENT') {
        throw error;
      }
    }
  }
}

async function removeEntry(folder: Held, name: Buffer, judge: Judge): Promise<void> {
  try {
    await unlink(atIn(folder, name));
  } catch (error) {
    // POSIX says EPERM, Linux EISDIR.
    if (codeOf(error) !== 'EISDIR' && codeOf(error) !== 'EPERM') {
      throw error;
    }
    await holdingIn(folder, name, async (held) => {
      if (!held.stats.isDirectory()) {
        throw codeOf(error) === 'EPERM' ? error : new SystemError('EBUSY');
      }
      await removeContents(held, judge);
    });
    await rmdir(atIn(folder, name));
  }
}
