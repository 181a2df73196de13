import type { Stats } from 'node:fs';
import { existsSync, lstatSync, realpathSync } from 'node:fs';
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

export function exists(path: string): boolean {
  const entry = lookAt(path);
  return entry !== undefined && entry !== 'unreachable';
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
