import { closeSync, constants, lstatSync, openSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../paths.ts';

/** Linux' number; Node does not name it. Permission to pass through a folder is enough to open it so. */
const O_PATH = 0o10_000_000;

/**
 * Runs the action with a name of the folder that stays the same folder, whatever happens to the path meanwhile:
 * another command may still be at work there and put links in the way. Undefined when one of the path's parts is
 * a link, or no folder.
 */
export function inRealFolder<T>(path: string, action: (folder: string) => T): T | undefined {
  let descriptor = openSync('/', O_PATH | constants.O_DIRECTORY);
  try {
    for (const name of path.split('/').filter((part) => part !== '')) {
      const next = openFolder(join(nameOf(descriptor), name));
      if (next === undefined) {
        return undefined;
      }
      closeSync(descriptor);
      descriptor = next;
    }
    return action(nameOf(descriptor));
  } finally {
    closeSync(descriptor);
  }
}

/** Gives an entry another name, under which nothing obeys it; returns that name. */
export function setAside(folder: string, name: string): string {
  for (let count = 1; ; count++) {
    const other = `${name}.disarmed${count === 1 ? '' : `-${count}`}`;
    if (lstatSync(join(folder, other), { throwIfNoEntry: false }) === undefined) {
      renameSync(join(folder, name), join(folder, other));
      return other;
    }
  }
}

function nameOf(descriptor: number): string {
  return `/proc/self/fd/${descriptor}`;
}

function openFolder(path: string): number | undefined {
  try {
    return openSync(path, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    if (errorCode(error) === undefined) {
      throw error;
    }
    return undefined;
  }
}
