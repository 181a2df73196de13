import { lstatSync, realpathSync, statSync } from 'node:fs';
import { isBelow, isInside } from '../paths.ts';
import { accessTo } from '../policy/fileRules.ts';
import type { SandboxPolicy } from '../policy/policy.ts';
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
 * What must be hidden beside the rules' own paths: what the globs match, what a matching link leads to, and every
 * further name of a hidden file. A rule for exactly such a path outranks all of it.
 */
export function hiddenPaths(
  policy: SandboxPolicy,
  { hidden, linkedFiles, unlisted }: TreeFindings,
): readonly string[] {
  const isNamed = (path: string): boolean => policy.files.some((rule) => rule.path === path);
  const matches = hidden.filter((path) => accessTo(policy, path) === 'none');
  const found = new Set(
    matches
      .flatMap((path) => (isLink(path) ? targetToHide(policy, path) : [path]))
      .filter((path) => !isNamed(path)),
  );
  // Their owner could let itself in, and nobody knows what is there.
  for (const folder of policy.hidden.length > 0 ? unlisted : []) {
    if (accessTo(policy, folder) === 'write') {
      found.add(folder);
    }
  }
  const isHidden = (path: string): boolean => found.has(path) || accessTo(policy, path) === 'none';
  const identities = new Set([
    ...linkedFiles.filter(({ path }) => isHidden(path)).map(({ identity }) => identity),
    ...policy.files.filter(({ access }) => access === 'none').flatMap(({ path }) => identityOf(path)),
  ]);
  for (const { path, identity } of linkedFiles) {
    if (identities.has(identity) && !isNamed(path)) {
      found.add(path);
    }
  }
  return [...found];
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

function identityOf(path: string): string[] {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats?.isFile() === true && stats.nlink > 1 ? [`${stats.dev}:${stats.ino}`] : [];
  } catch {
    // Behind a folder that this user may not enter.
    return [];
  }
}
