import { basename, dirname } from 'node:path';
import { isInside } from '../../../../sandbox/paths.ts';
import type { Access, FileRule, FileRules } from '../../../../sandbox/policy/fileRules.ts';
import { accessTo, deepestRule } from '../../../../sandbox/policy/fileRules.ts';
import { protectedNames } from '../../../../sandbox/policy/protectedNames.ts';
import { runFolder, systemFolders } from '../../../../sandbox/policy/systemFolders.ts';
import { uriOf } from '../../protocol/fileUri.ts';
import type { PermissionEntry } from '../../protocol/sandboxContext.ts';
import type { ContextMachine } from './contextMachine.ts';
import type { DenyGlob } from './denyGlobs.ts';
import { readGlob, unsearchedMatches } from './denyGlobs.ts';
import type { ContextPlaces, EntryTarget } from './entryTargets.ts';
import { accessOf, invalid, targetsOf } from './entryTargets.ts';

/** What wins of several entries for the same path. */
const rank: Readonly<Record<Access, number>> = { read: 0, write: 1, none: 2 };

/**
 * The rules that entries stand for on this machine: the deepest decides, and of one path `deny` before `write` before
 * `read`. They never give more than the entries say, and less where something in the place of a path could be a
 * command's own work: see {@link isPlanted}.
 */
export async function rulesOf(
  entries: readonly PermissionEntry[],
  maxDepth: number | undefined,
  places: ContextPlaces,
  machine: ContextMachine,
): Promise<FileRules> {
  const globs = entries.flatMap((entry) => globOf(entry, places, machine));
  const denied = globs.flatMap((glob) => ('path' in glob ? denial(glob.path, places, machine) : []));
  const patterns = globs.filter((glob): glob is DenyGlob => !('path' in glob));
  const targets = [...namedIn(entries).flatMap((entry) => targetsOf(entry, places, machine)), ...denied];
  const writable = targets.filter(({ access, exists }) => access === 'write' && exists);
  const inForce = targets.filter((target) => isInForce(target, machine));
  const planted = inForce.filter((target) => isPlanted(target, writable));
  const rules = new Map<string, FileRule>();
  for (const { path, access, writtenAs } of inForce.filter((target) => !planted.includes(target))) {
    const present = rules.get(path);
    if (present === undefined || rank[access] > rank[present.access]) {
      rules.set(path, ruleFor(path, access, writtenAs));
    }
  }
  if (!rules.has('/')) {
    rules.set('/', ruleFor('/', 'none', 'root'));
  }
  planted.forEach((target) => narrow(rules, target));
  for (const glob of patterns) {
    for (const path of await unsearchedMatches(glob, maxDepth)) {
      rules.set(path, ruleFor(path, 'none', glob.glob));
    }
  }
  const hidden = patterns.map((glob) => ({ ...glob, source: 'request' }) as const);
  return { files: keepHidden(withoutNeedless([...rules.values()]), hidden), hidden };
}

/** Without the system's folders where all of the machine can be read: they are there to run programs, not to protect. */
function namedIn(entries: readonly PermissionEntry[]): readonly PermissionEntry[] {
  const isOf = ({ path }: PermissionEntry, kind: string): boolean =>
    path.type === 'special' && path.value.kind === kind;
  const ofRoot = entries.filter((entry) => isOf(entry, 'root')).map(({ access }) => accessOf(access));
  return ofRoot.length > 0 && !ofRoot.includes('none')
    ? entries.filter((entry) => entry.access !== 'read' || !isOf(entry, 'minimal'))
    : entries;
}

function globOf(
  { path, access }: PermissionEntry,
  { cwd }: ContextPlaces,
  machine: ContextMachine,
): readonly (DenyGlob | { readonly path: string })[] {
  if (path.type !== 'glob_pattern') {
    return [];
  }
  if (accessOf(access) !== 'none') {
    throw invalid(`the pattern "${path.pattern}" can only be denied, not "${access}"`);
  }
  return [readGlob(path.pattern, cwd, machine)];
}

function denial(path: string, places: ContextPlaces, machine: ContextMachine): readonly EntryTarget[] {
  return targetsOf({ path: { type: 'path', path: uriOf(path) }, access: 'deny' }, places, machine);
}

/**
 * A folder to write in is made by whoever needs it. A missing name that would be obeyed is kept from coming to be, even
 * where the entry would let it: so does the peer. Of its own folders the sandbox gives what it has.
 */
function isInForce({ path, access, exists, skipsMissing }: EntryTarget, machine: ContextMachine): boolean {
  if (access !== 'none' && isOwnOfSandbox(path, access)) {
    return false;
  }
  if (exists || access === 'none') {
    return true;
  }
  if (access === 'write') {
    return false;
  }
  const isHeld = protectedNames.includes(basename(path)) && machine.canonicalize(dirname(path)) !== undefined;
  return !skipsMissing || isHeld;
}

function isOwnOfSandbox(path: string, access: Access): boolean {
  return (
    path === runFolder ||
    systemFolders.some((folder) => isInside(path, folder) && (access === 'write' || folder !== '/sys'))
  );
}

/**
 * Whether a command decides where an entry leads: over a link that lies where commands write, or that takes a path
 * below a root elsewhere, or in the system's own folders, where every process has other links.
 */
function isPlanted({ links, leavesRoot }: EntryTarget, writable: readonly EntryTarget[]): boolean {
  return (
    leavesRoot ||
    links.some(
      (link) =>
        writable.some(({ path }) => isInside(link, path)) ||
        systemFolders.some((folder) => isInside(link, folder)),
    )
  );
}

/**
 * Such an entry can only take away. What it keeps from being written must not come to be something else by a new link.
 */
function narrow(rules: Map<string, FileRule>, { path, access, writtenAs, links }: EntryTarget): void {
  const accessOf = (place: string): Access => deepestRule([...rules.values()], place)?.access ?? 'none';
  const loose = links.find(
    (link) =>
      accessOf(link) === 'write' &&
      !(protectedNames.includes(basename(link)) && rules.get(dirname(link))?.access === 'write'),
  );
  if (access === 'read' && loose !== undefined) {
    throw invalid(
      `${writtenAs} cannot be kept read-only: the link ${loose} on the way to it lies where commands write. Name what it leads to (${path})`,
    );
  }
  if (access === 'none' || (access === 'read' && accessOf(path) === 'write')) {
    rules.set(path, ruleFor(path, access, writtenAs));
  }
}

/**
 * Where all of the machine may be written, the entries for places in it add nothing: as roots of their own they would
 * bring the protection of metadata, which is not asked for there.
 */
function withoutNeedless(rules: readonly FileRule[]): readonly FileRule[] {
  const isNeedless = ({ path, access }: FileRule): boolean =>
    access === 'write' &&
    path !== '/' &&
    deepestRule(
      rules.filter((rule) => rule.access !== 'write' || rule.path === '/'),
      path,
    )?.access === 'write';
  return rules.filter((rule) => !isNeedless(rule));
}

/** A rule of its own would outrank the pattern that hides a path: a denial is meant for all that matches. */
function keepHidden(rules: readonly FileRule[], hidden: FileRules['hidden']): readonly FileRule[] {
  return rules.map((rule) => {
    const isHidden =
      rule.access !== 'none' && accessTo({ files: [everything], hidden }, rule.path) === 'none';
    return isHidden ? { ...rule, access: 'none' } : rule;
  });
}

const everything: FileRule = { path: '/', access: 'write', source: 'request' };

function ruleFor(path: string, access: Access, writtenAs: string): FileRule {
  return { path, access, source: 'request', ...(writtenAs !== path && { writtenAs }) };
}
