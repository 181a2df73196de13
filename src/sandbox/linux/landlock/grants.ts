import type { Dirent } from 'node:fs';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isBelow, isInside } from '../../paths.ts';
import type { FileRule } from '../../policy/fileRules.ts';

/** Something that Landlock opens. `read`: with everything below it, running included. `device`: reading and writing. */
export interface Grant {
  readonly kind: 'read' | 'device';
  readonly path: string;
}

export interface GrantInput {
  /** The policy's rules; nothing in them is `write`. */
  readonly files: readonly FileRule[];
  /** What the policy's globs match now. */
  readonly hidden: readonly string[];
  /** Closed although the rules may open a folder above: see {@link closedFolders}. */
  readonly closed: readonly string[];
  /** Cordon's own programs: open, wherever they are. */
  readonly programs: readonly string[];
  /** The resolver's configuration, where it lies in a closed folder and the network is on. */
  readonly opened: readonly string[];
}

/** Devices without memory and without a way to anybody else, and the command's own terminal. */
const harmlessDevices = ['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => `/dev/${name}`);

/**
 * What programs read of `/proc` that tells nothing about other processes. A command's own folder in there cannot be
 * granted: it does not exist yet, and a grant of all of them would open those of the machine.
 */
const harmlessProcessFiles = [
  ...['cpuinfo', 'filesystems', 'loadavg', 'meminfo', 'stat', 'sys', 'uptime', 'version'],
].map((name) => `/proc/${name}`);

/** Where devices, processes, and sockets of the machine are: under namespaces the sandbox has its own. */
export const closedFolders = ['/dev', '/proc', '/run'] as const;

/** Rules about these say nothing: what is granted there is fixed. */
const fixedFolders: readonly string[] = ['/dev', '/proc'];

/**
 * The grants that open exactly what the rules let a command read. Landlock can only add on the way down, so a folder
 * that is open except for something below it is opened entry by entry: it cannot be listed then, and what is made in
 * it later stays closed. Undefined when there would be more than `max` grants.
 */
export function planGrants(input: GrantInput, max = maxGrants): readonly Grant[] | undefined {
  const accesses = accessByPath(input);
  const grants: Grant[] = [
    ...harmlessDevices.map((path) => ({ kind: 'device', path }) as const),
    ...harmlessProcessFiles.map((path) => ({ kind: 'read', path }) as const),
  ];
  const paths = [...accesses.keys()].sort();
  const isSplit = (path: string): boolean =>
    paths.some((other) => isBelow(other, path) && accesses.get(other) === 'none');

  const open = (path: string, access: 'read' | 'none'): void => {
    if (grants.length > max) {
      return;
    }
    if (access === 'none') {
      for (const below of paths.filter((other) => nearestAbove(other, paths) === path)) {
        open(below, accesses.get(below) ?? access);
      }
    } else if (isSplit(path)) {
      for (const entry of entriesOf(path).map((name) => join(path, name))) {
        open(entry, accesses.get(entry) ?? access);
      }
    } else {
      grants.push({ kind: 'read', path });
    }
  };

  open('/', accesses.get('/') ?? 'none');
  return grants.length > max ? undefined : grants;
}

/** Beyond this, naming them takes longer than most commands, and the kernel's limit on arguments comes near. */
export const maxGrants = 4096;

function accessByPath({ files, hidden, closed, programs, opened }: GrantInput): Map<string, 'read' | 'none'> {
  const isFixed = (path: string): boolean => fixedFolders.some((folder) => isInside(path, folder));
  return new Map<string, 'read' | 'none'>([
    ['/', 'none'],
    ...[...closed, ...hidden].map((path) => [path, 'none'] as const),
    ...files
      .filter(({ path }) => !isFixed(path))
      .map(({ path, access }) => [path, access === 'none' ? 'none' : 'read'] as const),
    ...[...programs, ...opened].map((path) => [path, 'read'] as const),
  ]);
}

function nearestAbove(path: string, paths: readonly string[]): string | undefined {
  return paths
    .filter((other) => isBelow(path, other))
    .reduce<string | undefined>(
      (nearest, other) => (nearest === undefined || other.length > nearest.length ? other : nearest),
      undefined,
    );
}

/** Links need no grant: what they lead to decides. */
function entriesOf(folder: string): string[] {
  return list(folder)
    .filter((entry) => !entry.isSymbolicLink())
    .map(({ name }) => name);
}

function list(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // Not a folder, gone, or not for this user: the command could not list it either.
    return [];
  }
}
