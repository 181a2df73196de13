import { lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { isBelow, isInside } from '../paths.ts';
import type { FileRule } from '../policy/fileRules.ts';
import { accessTo } from '../policy/fileRules.ts';
import type { SandboxPolicy } from '../policy/policy.ts';
import { withNamesOutside } from './bubblewrap/linkedFiles.ts';
import { identityOf, namedIn } from './furtherNames.ts';
import type { TreeFindings } from './treeIndex.ts';

/** The trees in which a policy's globs search: their folders, or what a rule opens below a folder that is hidden. */
export function searchedTrees(policy: SandboxPolicy): readonly string[] {
  return [...new Set(policy.hidden.map(({ folder }) => folder))].flatMap((folder) => {
    const isOpen = accessTo(policy, folder) !== 'none';
    const opened = policy.files.filter(({ path, access }) => access !== 'none' && isBelow(path, folder));
    return isOpen ? [folder] : opened.map(({ path }) => path);
  });
}

/**
 * What must be hidden beside the rules' own paths: what the globs match, what a matching link leads to, and, in the
 * trees that were read, every further name of a hidden file. A rule for exactly such a path outranks all of it.
 */
export function hiddenPaths(
  policy: SandboxPolicy,
  { hidden, linkedFiles, unlisted }: TreeFindings,
): readonly string[] {
  const isNamed = (path: string): boolean => policy.files.some((rule) => rule.path === path);
  const matches = hidden.filter((path) => accessTo(policy, path) === 'none');
  const [links, matched] = [matches.filter(isLink), matches.filter((path) => !isLink(path))];
  const covered = new Set([
    ...links.flatMap((link) => targetToHide(policy, link)),
    // Their owner could let itself in, and nobody knows what is there.
    ...(policy.hidden.length > 0 ? unlisted : []).filter((folder) => accessTo(policy, folder) === 'write'),
  ]);
  const found = new Set([...matched, ...covered].filter((path) => !isNamed(path)));
  const isHidden = (path: string): boolean =>
    accessTo(policy, path) === 'none' || isCovered(path, covered, isNamed);
  const secret = [...policy.files.filter(isSecret).map(({ path }) => path), ...covered];
  const identities = new Set([
    ...linkedFiles.filter(({ path }) => isHidden(path)).map(({ identity }) => identity),
    ...secret.flatMap(linkedIdentity),
  ]);
  const unknown = withNamesOutside(linkedFiles.filter(({ identity }) => !identities.has(identity)));
  const elsewhere = namedIn(secret, new Set(unknown.map(({ identity }) => identity)), isHidden);
  for (const { path, identity } of linkedFiles) {
    if ((identities.has(identity) || elsewhere.has(identity)) && !isNamed(path)) {
      found.add(path);
    }
  }
  return [...found];
}

/** `/` and homes are hidden for what else may be in them: tools keep stores there, and link their files into projects. */
function isSecret({ path, access, writtenAs }: FileRule): boolean {
  return access === 'none' && path !== '/' && writtenAs !== ':home';
}

/** Whether the path or a folder above is covered, with no rule in between. */
function isCovered(path: string, covered: ReadonlySet<string>, isNamed: (path: string) => boolean): boolean {
  for (let at = path; at !== '/' && !isNamed(at); at = dirname(at)) {
    if (covered.has(at)) {
      return true;
    }
  }
  return false;
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

/** A folder with anything of the policy in it stays: a repository could take the root away by a link. */
function targetToHide(policy: SandboxPolicy, link: string): string[] {
  try {
    const target = realpathSync(link);
    const isSafe =
      !statSync(target).isDirectory() || !policy.files.some(({ path }) => isInside(path, target));
    return isSafe ? [target] : [];
  } catch {
    // It leads nowhere.
    return [];
  }
}

function linkedIdentity(path: string): string[] {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats?.isFile() === true && stats.nlink > 1 ? [identityOf(stats)] : [];
  } catch {
    // Behind a folder that this user may not enter.
    return [];
  }
}
