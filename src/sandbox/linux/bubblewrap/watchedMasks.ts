import { dirname } from 'node:path';
import type { KeeperTasks } from '../keeper.ts';
import type { Mount } from './mounts.ts';

/**
 * The mounts that the machine may lift unseen, by replacing what lies under them, and whose loss would give the
 * command something: what is read-only or hidden in a place that it may otherwise write or read.
 */
export function watchedMasks(mounts: readonly Mount[]): KeeperTasks['masks'] {
  const kinds = new Map(mounts.map(({ path, kind }) => [path, kind]));
  return mounts.flatMap(({ path, kind, source }): KeeperTasks['masks'] => {
    const above = kindAbove(path, kinds);
    if (source !== undefined || (above !== 'write' && above !== 'read')) {
      return [];
    }
    if (hiding.has(kind)) {
      return [{ path, kind: 'hide' }];
    }
    return kind === 'read' && above === 'write' ? [{ path, kind: 'read' }] : [];
  });
}

/** A passage that comes back is closed: what it let through stays hidden until the next command. */
const hiding: ReadonlySet<Mount['kind']> = new Set(['empty', 'closed', 'unreadable', 'passage']);

function kindAbove(path: string, kinds: ReadonlyMap<string, Mount['kind']>): Mount['kind'] | undefined {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const kind = kinds.get(folder);
    if (kind !== undefined || folder === '/') {
      return kind;
    }
  }
}
