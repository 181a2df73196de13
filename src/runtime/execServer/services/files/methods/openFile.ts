import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import type { Held, Links, Place } from '../held.ts';
import { holding, inPlace } from '../held.ts';
import type { Judge } from '../judge.ts';
import { codeOf, notAFile, SystemError } from '../osErrors.ts';

/** Opens a file for reading, and nothing that is none. The caller closes it. */
export function openToRead(path: string, links: Links, judge: Judge): Promise<FileHandle> {
  return holding(path, links, async (held) => {
    judge.read(held.path);
    return reopen(held, constants.O_RDONLY, path);
  });
}

/** Opens a file emptied, and makes it if need be. The caller closes it. */
export async function openToReplace(path: string, links: Links, judge: Judge): Promise<FileHandle> {
  const file = await openToWrite(path, links, judge, 0o666);
  try {
    await file.truncate(0);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Opens a file as it is, or makes it with the mode. The caller closes it. */
export function openToWrite(path: string, links: Links, judge: Judge, mode: number): Promise<FileHandle> {
  return inPlace(path, links, async (place) => {
    judge.write(place.path);
    for (let attempt = 0; attempt < mostAttempts; attempt++) {
      const file = (await openExisting(place, path)) ?? (await openNew(place, mode));
      if (file !== undefined) {
        return file;
      }
    }
    throw new SystemError('EBUSY');
  });
}

/** Between a look and a call somebody may make or remove the file; more often than this nobody does by accident. */
const mostAttempts = 10;

async function openExisting(place: Place, path: string): Promise<FileHandle | undefined> {
  try {
    return await holding(place.at, 'folders', async (held) => {
      if (held.stats.isDirectory()) {
        throw new SystemError('EISDIR');
      }
      // Links were followed before: it came after that, or none is wanted.
      if (held.stats.isSymbolicLink()) {
        throw new SystemError('ELOOP');
      }
      return reopen(held, constants.O_WRONLY, path);
    });
  } catch (error) {
    if (codeOf(error) === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
}

async function openNew(place: Place, mode: number): Promise<FileHandle | undefined> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  try {
    return await open(place.at, flags, mode);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') {
      return undefined;
    }
    throw error;
  }
}

/** Opens what is held: certainly the same, so a pipe or a device is never opened. */
export async function reopen({ stats, at }: Held, flags: number, path: string): Promise<FileHandle> {
  if (!stats.isFile()) {
    throw notAFile(path);
  }
  return open(at, flags | constants.O_NONBLOCK);
}
