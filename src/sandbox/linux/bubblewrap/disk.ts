import type { Stats } from 'node:fs';
import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from '../../paths.ts';

/** What is at a path itself; undefined when there is nothing, or `unreachable` when this user may not know. */
export function lookAt(path: string): Stats | 'unreachable' | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EACCES') {
      return 'unreachable';
    }
    if (code === 'ENOTDIR') {
      return undefined;
    }
    throw error;
  }
}

/** Whether there is something, and no link on the way to it. */
export function isUnmoved(path: string): boolean {
  try {
    return realpathSync.native(path) === path;
  } catch {
    // Gone meanwhile, or not for this user.
    return false;
  }
}

/** Tells of many paths at one moment what {@link isUnmoved} tells of one: no folder on the way is looked at twice. */
export class UnmovedPaths {
  readonly #folders = new Map<string, boolean>([['/', true]]);

  /** `entry`: what is at the canonical path itself. */
  has(path: string, entry: Stats): boolean {
    return !entry.isSymbolicLink() && this.#isFolder(dirname(path));
  }

  #isFolder(path: string): boolean {
    const known = this.#folders.get(path);
    if (known !== undefined) {
      return known;
    }
    const entry = lookAt(path);
    const isUnmovedFolder = entry !== undefined && entry !== 'unreachable' && this.has(path, entry);
    this.#folders.set(path, isUnmovedFolder);
    return isUnmovedFolder;
  }
}

/** Where a path leads in the end; undefined when it leads nowhere, or not for this user. */
export function canonicalPath(path: string): string | undefined {
  try {
    // An error costs ten times as much as the question; Node's own search looks at every folder on the way.
    return existsSync(path) ? realpathSync.native(path) : undefined;
  } catch {
    // Gone meanwhile.
    return undefined;
  }
}
