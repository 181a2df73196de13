import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { canonicalPath, lookAt } from './bubblewrap/disk.ts';

/**
 * The canonical paths of the Unix sockets that processes of this machine are bound on, as far as they still exist.
 * The kernel lists a socket under the name that its owner used: one bound by a relative name cannot be found.
 */
export function hostSockets(list = '/proc/net/unix'): readonly string[] {
  // Many sockets lie in few folders.
  const canonicalFolder = remembering(canonicalPath);
  const isReachable = remembering(isReachableFolder);
  const found = new Set<string>();
  for (const name of namesIn(readFileSync(list, 'utf8'))) {
    const path = canonicalSocket(name, canonicalFolder);
    if (path !== undefined && isReachable(dirname(path))) {
      found.add(path);
    }
  }
  return [...found];
}

/** No field of a line but the last one, the name, has a slash. */
function namesIn(list: string): ReadonlySet<string> {
  const named = list.split('\n').filter((line) => line.includes(' /'));
  return new Set(named.map((line) => line.slice(line.indexOf(' /') + 1)));
}

function remembering<T>(answer: (path: string) => T): (path: string) => T {
  const answers = new Map<string, T>();
  return (path) => {
    if (!answers.has(path)) {
      answers.set(path, answer(path));
    }
    return answers.get(path) as T;
  };
}

/**
 * Root outside passes every folder; in the sandbox's user namespace it passes only what permissions say, so that no
 * command and no mount gets to a socket in a folder that others keep to themselves.
 */
function isReachableFolder(folder: string): boolean {
  return (
    process.getuid?.() !== 0 ||
    (isOpenToRoot(folder) && (folder === '/' || isReachableFolder(dirname(folder))))
  );
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
export function canonicalSocket(path: string, canonicalFolder = canonicalPath): string | undefined {
  const folder = canonicalFolder(dirname(path));
  return folder === undefined ? undefined : socketAt(join(folder, basename(path)));
}

function socketAt(place: string): string | undefined {
  const entry = lookAt(place);
  if (entry === undefined || entry === 'unreachable') {
    return undefined;
  }
  if (entry.isSymbolicLink()) {
    const target = canonicalPath(place);
    return target === undefined ? undefined : socketAt(target);
  }
  return entry.isSocket() ? place : undefined;
}
