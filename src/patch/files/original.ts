import type { BigIntStats } from 'node:fs';
import { linkSync, unlinkSync, utimesSync } from 'node:fs';
import { errorCode } from '../../sandbox/paths.ts';
import { RefusedCall } from './attempt.ts';
import { isSameContent, lookUp, modeOf } from './entryStat.ts';
import { FileError } from './fileSystem.ts';
import type { Folder } from './folder.ts';
import { nameBeside, readFileItself, writeNewFile } from './newFile.ts';

/** Where links are not supported, or not allowed for this file. */
const isLinkRefused: ReadonlySet<string | undefined> = new Set([
  'EPERM',
  'EACCES',
  'EMLINK',
  'ENOSYS',
  'ENOTSUP',
  'EOPNOTSUPP',
]);

/**
 * Keeps a file reachable under a second name beside it, which is returned: the file itself, by a hard link, so that
 * it can come back with its identity, or a copy. Throws `ESTALE` when it is no longer the file that was looked at.
 */
export function keepOriginal(folder: Folder, name: string, stats: BigIntStats): string {
  const saved = nameBeside(name);
  const isLinked = link(folder.at(name), folder.at(saved));
  try {
    if (!isLinked) {
      copy(folder.at(name), folder.at(saved), stats);
    } else if (!isSameContent(lookUp(folder.at(saved)), stats)) {
      throw new RefusedCall('ESTALE', 'the file was replaced');
    }
  } catch (error) {
    drop(folder, saved);
    throw error;
  }
  return saved;
}

/** False when a link cannot be made. */
function link(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (!isLinkRefused.has(errorCode(error))) {
      throw error;
    }
    return false;
  }
}

function copy(from: string, to: string, stats: BigIntStats): void {
  const { uid, gid } = stats;
  writeNewFile(to, readFileItself(from), { mode: modeOf(stats), owner: { uid, gid } });
  utimesSync(to, Number(stats.atimeMs) / 1000, Number(stats.mtimeMs) / 1000);
}

/** Removes a name beside a file; that it is gone already is no failure. */
export function drop(folder: Folder, name: string): void {
  try {
    unlinkSync(folder.at(name));
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') {
      throw error;
    }
  }
}

/** Runs a revert; its failure says where the original lies. */
export function restoring(path: string, savedAs: () => string | undefined, action: () => void): void {
  try {
    action();
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) {
      throw error;
    }
    throw new FileError('write', path, code, { cause: error, savedAs: savedAs() });
  }
}
