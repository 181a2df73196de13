import type { Stats } from 'node:fs';
import { lstatSync, realpathSync } from 'node:fs';
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
    return realpathSync(path) === path;
  } catch {
    // Missing, or not for this user.
    return false;
  }
}
