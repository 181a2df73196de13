import { closeSync, constants, existsSync, openSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../sandbox/paths.ts';
import { RefusedCall } from './attempt.ts';

/** A folder that was found to be the one at its path, to be used for a few calls in a row. */
export interface Folder {
  /** The path under which the calls reach an entry of the folder. */
  at(name: string): string;
  close(): void;
}

/** Opens the folder at a canonical path; throws `ESTALE` when a link or anything else has taken its place. */
export type OpenFolder = (path: string) => Folder;

/** Runs the action in the folder and closes it. */
export function inFolder<T>(open: OpenFolder, path: string, action: (folder: Folder) => T): T {
  const folder = open(path);
  try {
    return action(folder);
  } finally {
    folder.close();
  }
}

/** `O_PATH` of open(2), which Node does not name: the descriptor needs no right to list the folder. */
const pathOnly = 0o10000000;

/**
 * Holds the folder itself by a descriptor. Calls below `/proc/self/fd/N` stay in this folder, even when somebody puts
 * a link in its place, or in that of a folder above, after the check.
 */
export const openByDescriptor: OpenFolder = (path) => {
  const descriptor = openUnfollowed(path);
  const held = `/proc/self/fd/${descriptor}`;
  const folder: Folder = { at: (name) => `${held}/${name}`, close: () => closeSync(descriptor) };
  try {
    requireSame(readlinkSync(held), path);
  } catch (error) {
    folder.close();
    throw error;
  }
  return folder;
};

/** For systems without descriptor paths: checks the name, which leaves a moment between the check and the calls. */
export const openByName: OpenFolder = (path) => {
  requireSame(realpathSync.native(path), path);
  return { at: (name) => join(path, name), close: () => undefined };
};

/** The safest way that this system has. */
export const openFolder: OpenFolder =
  process.platform === 'linux' && existsSync('/proc/self/fd') ? openByDescriptor : openByName;

function openUnfollowed(path: string): number {
  try {
    return openSync(path, pathOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR' || errorCode(error) === 'ENOENT') {
      throw new RefusedCall('ESTALE', `${path} is no longer a folder`);
    }
    throw error;
  }
}

function requireSame(real: string, path: string): void {
  if (real !== path) {
    throw new RefusedCall('ESTALE', `${path} leads to ${real}`);
  }
}
