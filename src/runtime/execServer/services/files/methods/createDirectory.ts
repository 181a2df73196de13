import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Links } from '../held.ts';
import { holding, inPlace } from '../held.ts';
import type { Judge } from '../judge.ts';
import { codeOf, SystemError } from '../osErrors.ts';

/** Makes a folder; with `recursive` also those above, and an existing one is fine. */
export async function createDirectory(
  path: string,
  isRecursive: boolean,
  links: Links,
  judge: Judge,
): Promise<void> {
  if (!isRecursive) {
    return makeFolder(path, links, judge);
  }
  if (await isFolder(path, links, judge)) {
    return;
  }
  try {
    await makeFolder(path, links, judge);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' && dirname(path) !== path) {
      await createDirectory(dirname(path), true, links, judge);
      return createDirectory(path, true, links, judge);
    }
    await requireFolder(path, links, judge, error);
  }
}

async function makeFolder(path: string, links: Links, judge: Judge): Promise<void> {
  await inPlace(path, links === 'none' ? 'none' : 'folders', async (place) => {
    judge.write(place.path);
    await mkdir(place.at);
  });
}

/** Somebody else may just have made it. */
async function requireFolder(path: string, links: Links, judge: Judge, error: unknown): Promise<void> {
  if (codeOf(error) !== 'EEXIST') {
    throw error;
  }
  if (!(await isFolder(path, links, judge))) {
    throw links === 'none' ? new SystemError('ENOTDIR') : error;
  }
}

async function isFolder(path: string, links: Links, judge: Judge): Promise<boolean> {
  try {
    return await holding(path, links, async (held) => {
      judge.read(held.path);
      return held.stats.isDirectory();
    });
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || (codeOf(error) === 'ELOOP' && links !== 'none')) {
      return false;
    }
    throw codeOf(error) === 'ELOOP' ? new SystemError('ENOTDIR') : error;
  }
}
