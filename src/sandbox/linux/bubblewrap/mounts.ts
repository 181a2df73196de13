import { dirname } from 'node:path';
import { depthOf } from '../../paths.ts';
import { runFolder } from '../../policy/systemFolders.ts';

/** One thing that the sandbox's file system shows at a path. */
export interface Mount {
  readonly path: string;
  readonly kind: MountKind;
  /** What is shown there, when it is not the same path outside; of a link, where it leads. */
  readonly source?: string;
}

/**
 * `scratch`: empty, writable, in memory. `write`, `read`: the machine's own. `closed`, `unreadable`: a folder, and
 * anything else, that is hidden. `passage`: a hidden folder through which what lies deeper is reached; `shown`: the
 * same, but it may be listed. `folder`, `step`, `link`: made inside of these; nobody can list a `step`. `empty`: a read-only nothing, over a name that must
 * not come to be.
 */
export type MountKind =
  | 'link'
  | 'folder'
  | 'step'
  | 'devices'
  | 'processes'
  | 'scratch'
  | 'write'
  | 'read'
  | 'shown'
  | 'passage'
  | 'closed'
  | 'unreadable'
  | 'empty';

/** At the same path, what comes later here wins: what the machine offers, what a person opened, what is protected. */
const order: readonly MountKind[] = [
  ...(['link', 'folder', 'step', 'devices', 'processes', 'scratch', 'write', 'read'] as const),
  ...(['shown', 'passage', 'closed', 'unreadable', 'empty'] as const),
];

/**
 * The mounts in the order in which they must be made: shallow before deep, because a later mount of a parent hides
 * everything below it. Folders between a writable mount and a mount below it are pinned by a mount of their own:
 * otherwise the command could rename such a folder, mask and all, and put its own in the place. Folders between a
 * hidden folder and a mount below it may not be listed, either.
 */
export function orderMounts(mounts: readonly Mount[]): Mount[] {
  const paths = new Map<string, Mount>();
  for (const mount of mounts) {
    const present = paths.get(mount.path);
    if (present === undefined || order.indexOf(present.kind) <= order.indexOf(mount.kind)) {
      paths.set(mount.path, mount);
    }
  }
  for (const path of [...paths.keys()]) {
    for (const between of mountsBetween(path, paths)) {
      paths.set(between.path, between);
    }
  }
  return [...paths.values()].sort((a, b) => depthOf(a.path) - depthOf(b.path));
}

function mountsBetween(path: string, mounts: ReadonlyMap<string, Mount>): Mount[] {
  const between: string[] = [];
  let folder = path;
  let above: Mount | undefined;
  while (above === undefined && folder !== '/') {
    folder = dirname(folder);
    above = mounts.get(folder);
    if (above === undefined) {
      between.push(folder);
    }
  }
  // What is private may be moved: nobody but the command relies on it.
  if (above?.kind === 'write' && above.source === undefined) {
    return between.map((pinned) => ({ path: pinned, kind: 'write' }));
  }
  const isHidden = above !== undefined && hidingKinds.has(above.kind);
  return isHidden ? between.map((passed) => ({ path: passed, kind: 'step' })) : [];
}

const hidingKinds: ReadonlySet<MountKind> = new Set(['shown', 'passage', 'step']);

/** Closes what had to stay open for the mounts below it: to be done last. */
export function closingArguments(mounts: readonly Mount[]): string[] {
  return mounts
    .filter(({ path, kind }) => kind === 'shown' || kind === 'passage' || path === runFolder)
    .flatMap(({ path }) => ['--remount-ro', path]);
}

/** The arguments with which bubblewrap makes a mount. Without `hasPerms` hidden folders can be listed, but are empty. */
export function mountArguments({ path, kind, source = path }: Mount, hasPerms: boolean): string[] {
  const perms = (mode: string): string[] => (hasPerms ? ['--perms', mode] : []);
  switch (kind) {
    case 'devices':
      return ['--dev', path];
    case 'processes':
      return ['--proc', path];
    case 'scratch':
      return [...perms('1777'), '--tmpfs', path];
    case 'write':
      return ['--bind', source, path];
    case 'read':
      return ['--ro-bind', source, path];
    case 'shown':
      // bubblewrap starts with an empty / in memory.
      return path === '/' ? [] : ['--tmpfs', path];
    case 'passage':
      return [...perms('0111'), '--tmpfs', path];
    case 'closed':
      return [...perms('0000'), '--tmpfs', path, '--remount-ro', path];
    case 'unreadable':
      // A mount of bubblewrap's has no devices, so that nobody can open this one.
      return ['--ro-bind', '/dev/null', path];
    case 'folder':
      return ['--dir', path];
    case 'step':
      return [...perms('0111'), '--dir', path];
    case 'link':
      return ['--symlink', source, path];
    case 'empty':
      return ['--tmpfs', path, '--remount-ro', path];
  }
}
