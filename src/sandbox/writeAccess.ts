import type { Stats } from 'node:fs';
import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { followGitPointer, isGitFolder } from './gitFolders.ts';
import { isInside } from './paths.ts';
import type { PolicyClause, SandboxPolicy } from './policy/policy.ts';
import { isUnsandboxed, writableRoots } from './policy/policy.ts';
import { executedGitNames, protectedNames } from './policy/protectedNames.ts';
import { runFolder, systemFolders } from './policy/systemFolders.ts';

/** A write that the policy does not allow. */
export interface WriteRefusal {
  readonly path: string;
  /** `untrusted` cannot be lifted by a person's yes; the others can, for one patch. */
  readonly reason: 'read-only' | 'untrusted' | 'outside' | 'protected';
  readonly clause: PolicyClause;
  readonly message: string;
  readonly hint: string;
}

/** Judges a write by this process itself, as the launcher would judge that of a command; undefined means allowed. */
export type WriteAccess = (path: string) => WriteRefusal | undefined;

/**
 * The policy's answer for single writes: the writable roots, without the metadata at their top, whether it exists or
 * not (reference: apply-patch §10), and without what later runs trust, such as the extension's folder. Paths must be
 * canonical: links resolved, except for one that is itself replaced.
 */
export function writeAccess(
  policy: SandboxPolicy,
  temporaryFolders: readonly string[] = [],
  trustedPaths: readonly string[] = [],
): WriteAccess {
  if (isUnsandboxed(policy)) {
    return () => undefined;
  }
  if (policy.mode === 'read-only') {
    const isUntrusted = policy.sources.mode === 'untrusted';
    return (path) => ({
      path,
      reason: isUntrusted ? 'untrusted' : 'read-only',
      clause: 'mode',
      message: `${path} may not be written: ${isUntrusted ? 'the workspace is not trusted' : `the sandbox of ${policy.root} is read-only`}.`,
      hint: isUntrusted
        ? 'The person has to trust the workspace first.'
        : 'The person can change it with "Cordon: Change Sandbox Mode…".',
    });
  }
  const roots = [
    ...writableRoots(policy).filter(isPossibleRoot),
    ...(policy.tmp === 'shared' ? temporaryFolders : []),
  ];
  const hidden = [...systemFolders, runFolder, ...(policy.tmp === 'private' ? temporaryFolders : [])];
  const protectedPaths = [...writableRoots(policy).flatMap(protectedIn), ...trustedPaths];
  return (path) => {
    // The innermost of all decides: a person may have opened a protected folder by adding it as a root.
    const root = deepest(roots.filter((folder) => isInside(path, folder)));
    const isHidden = hidden.some(
      (folder) => isInside(path, folder) && (root === undefined || !isInside(root, folder)),
    );
    if (root === undefined || isHidden) {
      return {
        path,
        reason: 'outside',
        clause: 'writableRoots',
        message: `${path} may not be written: it lies outside the folders that the sandbox of ${policy.root} lets commands write (${roots.join(', ')}).`,
        hint: 'Write inside these folders, or ask the person to add one to cordon.sandbox.writableRoots.',
      };
    }
    const guard = deepest(protectedPaths.filter((guarded) => isInside(fold(path), fold(guarded))));
    if (guard === undefined || isInside(fold(root), fold(guard))) {
      return undefined;
    }
    return {
      path,
      reason: 'protected',
      clause: 'writableRoots',
      message: `${path} may not be written: ${guard} is protected, because tools and editors run what it says.`,
      hint: 'Leave it alone, or ask the person to change it.',
    };
  };
}

/** The launcher refuses the others: a command would not see the machine's own. */
function isPossibleRoot(root: string): boolean {
  return root !== runFolder && !systemFolders.some((folder) => isInside(root, folder));
}

/** The protected places of one writable root, as named and as they really are. */
function protectedIn(root: string): string[] {
  const names = isGitFolder(root) ? [...executedGitNames, ...protectedNames] : protectedNames;
  return names.flatMap((name) => {
    const path = join(root, name);
    const place = targetOf(path);
    const isPointer = name === '.git' && lookUp(place)?.isFile() === true;
    return [path, place, ...(isPointer ? followGitPointer(path).map((target) => target.path) : [])];
  });
}

const maxLinks = 40;

/** Where a link leads in the end, also when nothing is there yet; anything else leads to itself. */
function targetOf(path: string, links = 0): string {
  if (links > maxLinks || lookUp(path)?.isSymbolicLink() !== true) {
    return path;
  }
  return targetOf(canonicalPlace(resolve(dirname(path), readlinkSync(path))), links + 1);
}

/** The path with the folders above canonical, as far as they exist. */
function canonicalPlace(path: string): string {
  const folder = dirname(path);
  try {
    return join(realpathSync(folder), basename(path));
  } catch {
    return join(canonicalPlace(folder), basename(path));
  }
}

function lookUp(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

function deepest(folders: readonly string[]): string | undefined {
  return [...folders].sort((a, b) => b.length - a.length)[0];
}

/**
 * Some file systems do not tell `.GIT` from `.git`, and ignore invisible characters in a name; upper case first,
 * because some letters (`ſ`) are folded in that direction only.
 */
function fold(path: string): string {
  return path
    .toUpperCase()
    .toLowerCase()
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '');
}
