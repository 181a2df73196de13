import { join } from 'node:path';
import { isBelow, isInside } from '../../paths.ts';
import { accessTo } from '../../policy/fileRules.ts';
import type { SandboxPolicy } from '../../policy/policy.ts';
import { runFolder } from '../../policy/systemFolders.ts';
import { canonicalPath, isUnmoved } from './disk.ts';
import type { Machine } from './machine.ts';
import { helperInside } from './machine.ts';
import { Places } from './places.ts';
import type { ProtectedTree } from './protectedPaths.ts';

/** What was looked up for one launch. */
export interface Surroundings {
  readonly tree: ProtectedTree;
  /** Beside the rules' own paths. */
  readonly hidden: readonly string[];
  /** Sockets that a policy names, canonical, as far as they exist. */
  readonly openedSockets: readonly string[];
  /** Sockets of the machine's processes, canonical. */
  readonly sockets: readonly string[];
  /** The folder with this root's own caches, where the policy has them. */
  readonly privateCaches?: string;
}

/** NixOS and Guix keep every program behind this link, the shell included. */
const systemProfile = '/run/current-system';

/**
 * A fresh procfs lets uid 0 write these, whatever its capabilities: the files check the user. bubblewrap covers only
 * some of them (reference §5.8: `core_pattern` is code execution on the machine).
 */
const kernelSettings = [
  '/proc/sys',
  '/proc/sysrq-trigger',
  '/proc/irq',
  '/proc/bus',
  '/proc/fs',
  '/proc/scsi',
];

/**
 * Everything that a policy says about the file system, and what every sandbox has. At the same path what comes later
 * counts: what the machine offers, the caches, what a person or a glob says, what Cordon needs and protects.
 */
export function gatherPlaces(policy: SandboxPolicy, machine: Machine, around: Surroundings): Places {
  const places = new Places();
  const show = (path: string, source = path): void =>
    places.put({ path, shows: 'read', ...(source !== path && { source }) });
  // A policy without a rule for `/` shows what it names and nothing else.
  places.put({ path: '/', shows: 'none' });
  places.put({ path: '/dev', shows: 'devices' });
  places.put({ path: '/proc', shows: 'processes' });
  kernelSettings.forEach((path) => show(path));
  places.put({ path: runFolder, shows: 'scratch' });
  const isWritable = policy.mode === 'workspace-write';
  const shared = isWritable ? 'write' : 'read';
  for (const path of machine.temporaryFolders) {
    places.put({ path, shows: policy.tmp === 'private' ? 'scratch' : shared });
  }
  for (const { path } of policy.files.filter(({ path }) => !['/dev', '/proc', runFolder].includes(path))) {
    places.put({ path, shows: accessTo(policy, path) });
  }
  for (const path of around.hidden) {
    places.put({ path, shows: 'none' });
  }
  const kept = isWritable ? addCaches(places, policy, machine, around.privateCaches) : [];
  show(helperInside, machine.helperPath);
  targetsOf(systemProfile).forEach((target) => show(systemProfile, target));
  if (policy.network === 'on') {
    // systemd keeps the file that the link leads to in `/run`.
    targetsOf('/etc/resolv.conf')
      .filter((target) => isInside(target, runFolder))
      .forEach((target) => show(target));
  }
  const showsWhere = (path: string): string | undefined => places.enclosing(path)?.shows;
  for (const path of machine.programPaths.filter((path) => showsWhere(path) !== 'write')) {
    show(path);
  }
  const isHidden = (path: string): boolean => machine.hiddenFolders.some((folder) => isInside(path, folder));
  for (const path of machine.trustedPaths.filter(
    (path) => showsWhere(path) === 'write' && !isRule(policy, path) && !isHidden(path),
  )) {
    show(path);
  }
  for (const path of [machine.runtimeFolder, ...machine.hiddenFolders]) {
    places.put({ path, shows: 'none' });
  }
  places.put({ path: machine.cacheFolder, shows: 'none' });
  addSockets(places, around);
  addKept(places, kept);
  return places;
}

function isRule(policy: SandboxPolicy, path: string): boolean {
  return policy.files.some((rule) => rule.path === path);
}

/** Returns what of the person's own stays visible in private caches, as far as it exists. */
function addCaches(
  places: Places,
  policy: SandboxPolicy,
  { homeFolder, toolCaches }: Machine,
  privateCaches: string | undefined,
): readonly string[] {
  const kept: string[] = [];
  // What a default opens only for reading gives way; what somebody said about the very folder counts.
  const isDecided = (path: string): boolean =>
    policy.files.some((rule) => rule.path === path && (rule.source !== 'default' || rule.access !== 'read'));
  const isHomeHidden = places.enclosing(homeFolder)?.shows === 'none';
  for (const { folder, keeps, parts } of toolCaches) {
    const path = join(homeFolder, folder);
    if (isDecided(path)) {
      continue;
    }
    if (policy.caches === 'shared') {
      parts
        .map((part) => join(path, part))
        .filter((part) => isUnmoved(part) && !isDecided(part))
        .forEach((part) => places.put({ path: part, shows: 'write' }));
      continue;
    }
    // Where the home folder is the machine's own, a mount point would have to be made in it.
    if (privateCaches === undefined || !(isHomeHidden || isUnmoved(path))) {
      continue;
    }
    places.put({ path, shows: 'write', source: join(privateCaches, folder) });
    kept.push(...keeps.map((name) => join(path, name)));
  }
  return kept;
}

/**
 * Programs and settings in the caches. Who linked them from elsewhere gets them if the command sees all of the target
 * anyway: under its second name nothing in it would be hidden.
 */
function addKept(places: Places, kept: readonly string[]): void {
  const isVisible = (target: string): boolean =>
    places.enclosing(target)?.source === undefined &&
    ['read', 'write'].includes(places.enclosing(target)?.shows ?? '') &&
    !places.all().some(({ path }) => isBelow(path, target));
  for (const path of kept.filter((at) => places.at(at) === undefined)) {
    for (const target of targetsOf(path)) {
      if (target === path) {
        places.put({ path, shows: 'read' });
      } else if (isVisible(target)) {
        places.put({ path, shows: 'read', source: target });
      }
    }
  }
}

function addSockets(places: Places, { openedSockets, sockets }: Surroundings): void {
  for (const path of sockets.filter((path) => !openedSockets.includes(path))) {
    places.put({ path, shows: 'none' });
  }
  for (const path of openedSockets) {
    if (['none', 'scratch'].includes(places.enclosing(path)?.shows ?? '')) {
      places.put({ path, shows: 'read' });
    }
  }
}

/** Where a path leads in the end, if it leads anywhere. */
function targetsOf(path: string): string[] {
  const target = canonicalPath(path);
  return target === undefined ? [] : [target];
}
