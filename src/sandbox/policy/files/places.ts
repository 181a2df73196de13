import { join } from 'node:path';
import { isBelow, isInside } from '../../paths.ts';
import type { PolicyInput } from '../input.ts';
import type { Location } from './locate.ts';
import { locate } from './locate.ts';
import { findSecrets } from './secrets.ts';
import { cachePlaces } from './toolCaches.ts';
import { findToolchains } from './toolchains.ts';

/** Names for what lies elsewhere on every machine; the first group can be followed by a path below it. */
export const places = [
  ':root',
  ':workspace',
  ':home',
  ':repository',
  ':tmp',
  ':minimal',
  ':toolchains',
  ':caches',
  ':secrets',
] as const;
export type PlaceName = (typeof places)[number];

/** The part of the input that says where things are. */
export type Surroundings = Pick<
  PolicyInput,
  'root' | 'homeDir' | 'searchPath' | 'canonicalize' | 'listFolder' | 'repositoryAround'
>;

/** Where a place is on this machine: what exists of it, and of secrets also what may come to exist. */
export function locationsOf(place: PlaceName, around: Surroundings): readonly Location[] {
  const { homeDir } = around;
  switch (place) {
    case ':root':
      return [{ path: '/', exists: true }];
    case ':workspace':
      return [{ path: around.root, exists: true }];
    case ':home':
      // Not the folder that a root is or lies above: it would be hidden from itself.
      return existing(homesOf(homeDir), around).filter(({ path }) => !isInside(path, around.root));
    case ':repository':
      return existing(repositoriesAround(around), around);
    case ':tmp':
      return existing(['/tmp', '/var/tmp'], around);
    case ':minimal':
      return existing(minimalPlaces, around);
    case ':toolchains':
      return findToolchains(around);
    case ':caches':
      return existing(
        cachePlaces.map((name) => join(homeDir, name)),
        around,
      );
    case ':secrets':
      return findSecrets(around);
  }
}

/** The folders that a path behind a place's name is relative to; undefined for places that have no inside. */
export function basesOf(place: PlaceName, around: Surroundings): readonly string[] | undefined {
  switch (place) {
    case ':root':
      return ['/'];
    case ':workspace':
      return [around.root];
    case ':home':
      return [around.homeDir];
    case ':repository':
      return repositoriesAround(around);
    case ':tmp':
      return locationsOf(':tmp', around).map(({ path }) => path);
    case ':minimal':
    case ':toolchains':
    case ':caches':
    case ':secrets':
      return undefined;
  }
}

/** The operating system's own programs, libraries and settings. */
const minimalPlaces = [
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/usr',
  '/etc',
  '/nix/store',
  '/gnu/store',
  '/run/current-system',
];

/** Where people's files are: their home, and those of the others. */
function homesOf(homeDir: string): readonly string[] {
  return [...(isSystemFolder(homeDir) ? [] : [homeDir]), '/home', '/root'];
}

/**
 * The repository in which the root is a folder, if it would be hidden with a home: none for the settings that somebody
 * keeps under git in the home folder itself. Only folders above the root count, which nothing in it can make.
 */
export function repositoriesAround(around: Surroundings): readonly string[] {
  const top = around.repositoryAround(around.root);
  const isInHome = (folder: string): boolean =>
    homesOf(around.homeDir).some((home) => isBelow(folder, home)) && !isInside(around.homeDir, folder);
  return top !== undefined && isBelow(around.root, top) && isInHome(top) ? [top] : [];
}

/** Accounts of services have such homes; hiding them would hide the machine's programs. */
export function isSystemFolder(path: string): boolean {
  return (
    ['/', '/var', '/opt', '/srv', '/mnt', '/media', '/tmp', '/var/tmp', '/var/lib'].includes(path) ||
    ['/bin', '/boot', '/dev', '/etc', '/lib', '/lib64', '/proc', '/run', '/sbin', '/sys', '/usr'].some(
      (folder) => isInside(path, folder),
    ) ||
    path === '/nonexistent'
  );
}

export function existing(paths: readonly string[], around: Surroundings): readonly Location[] {
  return paths.map((path) => locate(path, around)).filter(({ exists }) => exists);
}
