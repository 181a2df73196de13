import type { Stats } from 'node:fs';
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { lstat, open, readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { codeOf, SystemError } from './osErrors.ts';

/**
 * `O_PATH` of open(2), which Node does not name: holds a place without opening what is there, so that a pipe does not
 * block, a device does nothing, and no right to read is needed.
 */
export const pathOnly = 0o10000000;

/** Elsewhere there is neither `O_PATH` nor a way to reach an entry through a descriptor: calls go by the name. */
const hasDescriptorPaths = process.platform === 'linux';

/** What a path leads to, held by a descriptor: whatever happens to the names on the way, it stays this one. */
export interface Held {
  readonly stats: Stats;
  /** Canonical. */
  readonly path: string;
  /** The path under which calls reach it, and what is in it. */
  readonly at: string;
}

/** The folder that an entry is in, held by a descriptor: for calls that make, replace or remove a name. */
export interface Place {
  /** Canonical, the last name included; that may be a link, and need not exist. */
  readonly path: string;
  /** The path under which calls reach the entry. */
  readonly at: string;
}

/** `all`: links are followed. `folders`: all but the last name. `none`: a link anywhere in the path is an error. */
export type Links = 'all' | 'folders' | 'none';

/** Runs the action on what is at a path. With `folders` the last name may be a link, which is held itself. */
export async function holding<T>(path: string, links: Links, action: (held: Held) => Promise<T>): Promise<T> {
  return opened(path, links === 'all' ? 0 : constants.O_NOFOLLOW, async (handle) => {
    const at = pathThrough(handle, path);
    const [stats, real] = await Promise.all([
      hasDescriptorPaths || links === 'all' ? handle.stat() : lstat(path),
      realPathOf(handle, path, links),
    ]);
    if (links === 'none' && stats.isSymbolicLink()) {
      throw new SystemError('ELOOP');
    }
    if (links === 'none' && real !== path) {
      throw new SystemError('ENOTDIR');
    }
    if (stats.nlink === 0 && real.endsWith(deletedMark)) {
      throw new SystemError('ENOENT');
    }
    return action({ stats, path: real, at });
  });
}

/** Runs the action in the folder of a path's last name. With `all` a link there is followed to where it leads. */
export async function inPlace<T>(
  path: string,
  links: Links,
  action: (place: Place) => Promise<T>,
): Promise<T> {
  let target = path;
  for (let followed = 0; followed <= mostLinks; followed++) {
    const outcome = await inFolder(dirname(target), links === 'none' ? 'none' : 'all', async (folder) => {
      const place = placeIn(folder, basename(target));
      const link = links === 'all' ? await linkAt(place.at) : undefined;
      return link === undefined
        ? { value: await action(place) }
        : { next: resolve(dirname(place.path), link) };
    });
    if ('value' in outcome) {
      return outcome.value;
    }
    target = outcome.next;
  }
  throw new SystemError('ELOOP');
}

/** What `/proc` adds to the path of something that has no name any more. */
const deletedMark = ' (deleted)';

/** As Linux counts them. */
const mostLinks = 40;

/** Runs the action on a folder; fails when the path leads to anything else. */
export function inFolder<T>(path: string, links: Links, action: (folder: Held) => Promise<T>): Promise<T> {
  return holding(path, links === 'all' ? 'all' : 'folders', async (held) => {
    if (!held.stats.isDirectory() || (links === 'none' && held.path !== path)) {
      throw new SystemError('ENOTDIR');
    }
    return action(held);
  });
}

/** Holds an entry of a held folder, not following it. */
export function holdingIn<T>(
  folder: Held,
  name: string | Buffer,
  action: (held: Held) => Promise<T>,
): Promise<T> {
  const place = placeIn(folder, name);
  return opened(atIn(folder, name), constants.O_NOFOLLOW, async (handle) =>
    action({
      stats: await (hasDescriptorPaths ? handle.stat() : lstat(atIn(folder, name))),
      path: place.path,
      at: pathThrough(handle, place.path),
    }),
  );
}

export function placeIn(folder: Held, name: string | Buffer): Place {
  const text = String(name);
  return { path: join(folder.path, text), at: text === '' ? folder.at : `${folder.at}/${text}` };
}

/** As {@link Place.at}, for names that are no UTF-8. */
export function atIn(folder: Held, name: string | Buffer): string | Buffer {
  return typeof name === 'string'
    ? placeIn(folder, name).at
    : Buffer.concat([Buffer.from(`${folder.at}/`), name]);
}

async function opened<T>(
  path: string | Buffer,
  flags: number,
  action: (handle: FileHandle) => Promise<T>,
): Promise<T> {
  const handle = await open(path, hasDescriptorPaths ? flags | pathOnly : constants.O_NONBLOCK);
  try {
    return await action(handle);
  } finally {
    await handle.close();
  }
}

function pathThrough(handle: FileHandle, path: string): string {
  return hasDescriptorPaths ? `/proc/self/fd/${handle.fd}` : path;
}

async function realPathOf(handle: FileHandle, path: string, links: Links): Promise<string> {
  if (hasDescriptorPaths) {
    return readlink(`/proc/self/fd/${handle.fd}`);
  }
  return links === 'all' ? realpath(path) : join(await realpath(dirname(path)), basename(path));
}

/** Where a link leads; undefined for anything else. */
async function linkAt(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    if (codeOf(error) === 'EINVAL' || codeOf(error) === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
}
