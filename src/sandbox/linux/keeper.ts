import { callsName, leaseName, trapName } from './leases.ts';

/** What the companion program's keeper does for one run, while it lasts and after it. Paths are absolute. */
export interface KeeperTasks {
  /** Where the leases are. */
  readonly folder: string;
  /** A name of its own for the run. */
  readonly run: string;
  /** Mount points to make and to remove: names that must not come to be. */
  readonly held: readonly string[];
  /** Masks to put back when a program of the machine lifts them: what must not be seen, and what must not be written. */
  readonly masks: readonly { readonly path: string; readonly kind: 'hide' | 'read' }[];
  /** Files to remove after the run, if they came to be. */
  readonly traps: readonly string[];
  readonly groups: readonly GroupLimit[];
}

/** One limit of a control group that exists as long as the run. */
export interface GroupLimit {
  readonly group: string;
  readonly file: string;
  readonly value: string;
}

/** The arguments with which the outer companion starts a keeper. */
export function keeperArguments(tasks: KeeperTasks): string[] {
  const held = [...new Set([...tasks.groups.map(({ group }) => group), ...tasks.held])];
  return [
    ...['--leases', tasks.folder, '--note', tasks.run, '--calls', callsName(tasks.run)],
    ...held.flatMap((path) => ['--hold', leaseName(path), path]),
    ...tasks.masks.flatMap(({ path, kind }) => [`--${kind}`, path]),
    ...tasks.traps.flatMap((path) => ['--trap', trapName(path), path]),
    ...tasks.groups.flatMap(({ group, file, value }) => ['--group', group, file, value]),
  ];
}
