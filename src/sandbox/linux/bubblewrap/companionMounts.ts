import { runFolder } from '../../policy/systemFolders.ts';
import type { Mount } from './mounts.ts';

/**
 * What the companion program needs of bubblewrap to make the mounts itself (`ground.c`, `mounts.c`): the machine's tree to take
 * them from, and the rights for it, which it drops before anything else runs.
 */
export const companionGround: readonly string[] = [
  ...['--bind', '/', '/', '--uid', '0', '--gid', '0', '--cap-drop', 'ALL'],
  ...['SYS_ADMIN', 'SYS_RESOURCE', 'SETPCAP', 'SETFCAP', 'DAC_OVERRIDE'].flatMap((name) => [
    '--cap-add',
    `CAP_${name}`,
  ]),
];

/** `MAX_MOUNTS` in mounts.c. */
export const maxMounts = 4096;

/** How many mounts an argv asks the companion for. */
export function countMounts(argv: readonly string[]): number {
  let count = 0;
  for (let at = argv.indexOf('--mounts') + 1; at > 0 && at < argv.length && argv[at] !== '--'; count++) {
    at += sourcedKinds.has(argv[at] ?? '') ? 3 : 2;
  }
  return count;
}

const sourcedKinds: ReadonlySet<string> = new Set(['write', 'read', 'link']);

/** The list of mounts, in the order of `orderMounts()`, as the companion program reads it. */
export function companionMounts(mounts: readonly Mount[]): string[] {
  return ['--mounts', ...mounts.flatMap(words)];
}

function words({ path, kind, source = path }: Mount): string[] {
  switch (kind) {
    case 'devices':
    case 'processes':
      // Made before all others (`ground.c`).
      return ['write', path, path];
    case 'write':
    case 'read':
    case 'link':
      return [kind, source, path];
    case 'scratch':
      // Nobody writes between the things that Cordon shows there.
      return [path === runFolder ? 'shown' : kind, path];
    case 'folder':
    case 'step':
    case 'shown':
    case 'passage':
    case 'closed':
    case 'unreadable':
    case 'empty':
      return [kind, path];
  }
}
