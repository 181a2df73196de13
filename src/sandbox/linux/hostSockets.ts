import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { canonicalPath } from './bubblewrap/disk.ts';

/**
 * The canonical paths of the Unix sockets that processes of this machine are bound on, as far as they still exist.
 * The kernel lists a socket under the name that its owner used: one bound by a relative name cannot be found.
 */
export function hostSockets(list = '/proc/net/unix'): readonly string[] {
  const lines = readFileSync(list, 'latin1').matchAll(/^[0-9a-f]+: (?:\S+ +){6}(\/.*)$/gm);
  const names = new Set([...lines].map(([, name = '']) => name));
  const paths = [...names].map((name) => canonicalSocket(Buffer.from(name, 'latin1').toString()));
  return [...new Set(paths)].filter((path) => path !== undefined).filter(isReachableInside);
}

/**
 * Root outside passes every folder; in the sandbox's user namespace it passes only what permissions say, so that no
 * command and no mount gets to a socket in a folder that others keep to themselves.
 */
function isReachableInside(path: string): boolean {
  const folder = dirname(path);
  return process.getuid?.() !== 0 || (isOpenToRoot(folder) && (folder === '/' || isReachableInside(folder)));
}

function isOpenToRoot(folder: string): boolean {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (stats === undefined) {
    return false;
  }
  const { uid, gid, mode } = stats;
  // An owner could let itself in.
  return uid === 0 || (mode & 0o001) !== 0 || ((mode & 0o010) !== 0 && isOwnGroup(gid));
}

const isOwnGroup = (gid: number): boolean =>
  gid === process.getegid?.() || process.getgroups?.().includes(gid) === true;

/** Undefined where there is no socket, or none that this user could reach. */
export function canonicalSocket(path: string): string | undefined {
  const canonical = canonicalPath(path);
  const isSocket =
    canonical !== undefined && statSync(canonical, { throwIfNoEntry: false })?.isSocket() === true;
  return isSocket ? canonical : undefined;
}
