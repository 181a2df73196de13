import { runFolder } from '../../policy/systemFolders.ts';
import type { Mount } from './mounts.ts';

/**
 * What the companion program needs of bubblewrap to make the mounts itself (`mounts.c`): the machine's tree to take
 * them from, and the rights for it, which it drops before anything else runs.
 */
export const companionGround: readonly string[] = [
  ...[
    '--bind',
    '/',
    '/',
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    '--uid',
    '0',
    '--gid',
    '0',
    '--cap-drop',
    'ALL',
  ],
  ...['SYS_ADMIN', 'SYS_RESOURCE', 'SETPCAP', 'SETFCAP', 'DAC_OVERRIDE'].flatMap((name) => [
    '--cap-add',
    `CAP_${name}`,
  ]),
];

/** The list of mounts, in the order of `orderMounts()`, as the companion program reads it. */
export function companionMounts(mounts: readonly Mount[]): string[] {
  return ['--mounts', ...mounts.flatMap(words)];
}

function words({ path, kind, source = path }: Mount): string[] {
  switch (kind) {
    case 'devices':
    case 'processes':
      // bubblewrap's own.
      return ['write', path, path];
    case 'write':
    case 'read':
    case 'link':
      return [kind, source, path];
    case 'scratch':
      // Nobody writes between the things that Cordon shows there.
      return [path === runFolder ? 'shown' : kind, path];
    default:
      return [kind, path];
  }
}
