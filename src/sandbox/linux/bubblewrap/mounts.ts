import { dirname } from 'node:path';
import { depthOf } from '../../paths.ts';

/** One thing that the sandbox's file system shows at a path. */
export interface Mount {
  readonly path: string;
  readonly kind: MountKind;
  /** What is shown there, when it is not the same path outside. */
  readonly source?: string;
}

/**
 * `scratch`: empty, writable, in memory. `write`, `read`: the machine's own. `empty`: a read-only nothing, over a
 * name that must not come to be, or that must not be seen.
 */
export type MountKind = 'devices' | 'processes' | 'scratch' | 'write' | 'read' | 'empty';

/** At the same path, what comes later here wins: what the machine offers, what a person opened, what is protected. */
const order: readonly MountKind[] = ['devices', 'processes', 'scratch', 'write', 'read', 'empty'];

/**
 * The mounts in the order in which they must be made: shallow before deep, because a later mount of a parent hides
 * everything below it. Folders between a writable mount and a mount below it are pinned by a mount of their own:
 * otherwise the command could rename such a folder, mask and all, and put its own in the place.
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
    for (const between of foldersToPin(path, paths)) {
      paths.set(between, { path: between, kind: 'write' });
    }
  }
  return [...paths.values()].sort((a, b) => depthOf(a.path) - depthOf(b.path));
}

function foldersToPin(path: string, mounts: ReadonlyMap<string, Mount>): string[] {
  const between: string[] = [];
  for (let folder = dirname(path); folder !== path && folder !== '/'; folder = dirname(folder)) {
    const mount = mounts.get(folder);
    if (mount !== undefined) {
      return mount.kind === 'write' ? between : [];
    }
    between.push(folder);
  }
  return mounts.get('/')?.kind === 'write' ? between : [];
}

/** The arguments with which bubblewrap makes a mount. */
export function mountArguments({ path, kind, source }: Mount, hasPerms: boolean): string[] {
  switch (kind) {
    case 'devices':
      return ['--dev', path];
    case 'processes':
      return ['--proc', path];
    case 'scratch':
      return [...(hasPerms ? ['--perms', '1777'] : []), '--tmpfs', path];
    case 'write':
      return ['--bind', source ?? path, path];
    case 'read':
      return ['--ro-bind', source ?? path, path];
    case 'empty':
      return ['--tmpfs', path, '--remount-ro', path];
  }
}
