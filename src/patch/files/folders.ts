import { mkdirSync, rmdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { errorCode } from '../../sandbox/paths.ts';
import { RefusedCall, attempt } from './attempt.ts';
import { lookUp } from './entryStat.ts';
import { FileError } from './fileSystem.ts';
import type { OpenFolder } from './folder.ts';
import { inFolder } from './folder.ts';

/**
 * The folders above a path that do not exist, outermost first. What stands in the place of one counts as missing: an
 * earlier change of the same plan may remove it.
 */
export function missingFolders(path: string): string[] {
  const missing: string[] = [];
  let folder = dirname(path);
  while (lookUp(folder)?.isDirectory() !== true) {
    missing.unshift(folder);
    folder = dirname(folder);
  }
  return missing;
}

/** Makes the folders for a file, one in the other, and returns those that did not exist; all or none. */
export function makeFolders(open: OpenFolder, folders: readonly string[], forPath: string): string[] {
  const made: string[] = [];
  try {
    for (const path of folders) {
      if (attempt('mkdir', forPath, () => makeFolder(open, path, forPath))) {
        made.push(path);
      }
    }
  } catch (error) {
    removeFolders(open, made);
    throw error;
  }
  return made;
}

/** True when it was made, false when it is there already. */
function makeFolder(open: OpenFolder, path: string, forPath: string): boolean {
  return inFolder(open, dirname(path), (parent) => {
    const place = parent.at(basename(path));
    try {
      mkdirSync(place);
      return true;
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') {
        throw error;
      }
    }
    const entry = lookUp(place);
    if (entry?.isSymbolicLink() === true) {
      throw new RefusedCall('ESTALE', `${path} is a link`);
    }
    if (entry?.isDirectory() === false) {
      throw new FileError('write', forPath, 'ENOTDIR');
    }
    return false;
  });
}

/** Removes folders that were made, as far as nobody has put anything there since. */
export function removeFolders(open: OpenFolder, made: readonly string[]): void {
  for (const path of made.toReversed()) {
    try {
      inFolder(open, dirname(path), (parent) => rmdirSync(parent.at(basename(path))));
    } catch (error) {
      if (!isLeftAlone.has(errorCode(error))) {
        throw error;
      }
    }
  }
}

/** POSIX lets rmdir(2) say either of the first two for a folder with contents. */
const isLeftAlone: ReadonlySet<string | undefined> = new Set(['ENOTEMPTY', 'EEXIST', 'ENOENT']);
