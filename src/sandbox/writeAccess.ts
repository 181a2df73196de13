import { lstatSync, realpathSync } from 'node:fs';
import { basename, join } from 'node:path';
import { followGitPointer, isGitFolder } from './gitFolders.ts';
import { isInside } from './paths.ts';
import type { PolicyClause, SandboxPolicy } from './policy/policy.ts';
import { isUnsandboxed } from './policy/policy.ts';
import { executedGitNames, protectedNames } from './policy/protectedNames.ts';

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
  const roots = [...policy.writableRoots, ...(policy.tmp === 'shared' ? temporaryFolders : [])];
  const protectedPaths = [...policy.writableRoots.flatMap(protectedIn), ...trustedPaths];
  return (path) => {
    // The innermost of both decides: a person may have opened a protected folder by adding it as a root.
    const root = deepest(roots.filter((folder) => isInside(path, folder)));
    if (root === undefined) {
      return {
        path,
        reason: 'outside',
        clause: 'writableRoots',
        message: `${path} may not be written: it lies outside the folders that the sandbox of ${policy.root} lets commands write (${roots.join(', ')}).`,
        hint: 'Write inside these folders, or ask the person to add one to cordon.sandbox.writableRoots.',
      };
    }
    const guard = deepest(protectedPaths.filter((guarded) => isInsideInAnyCase(path, guarded)));
    if (guard === undefined || isInside(root, guard)) {
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

/** The protected places of one writable root, as named and as they really are. */
function protectedIn(root: string): string[] {
  const names = isGitFolder(root) ? [...executedGitNames, ...protectedNames] : protectedNames;
  return names.flatMap((name) => {
    const path = join(root, name);
    const entry = lstatSync(path, { throwIfNoEntry: false });
    const real = entry?.isSymbolicLink() === true ? realPathOf(path) : undefined;
    const behindPointer =
      basename(path) === '.git' && entry?.isFile() === true
        ? followGitPointer(path).map((target) => target.path)
        : [];
    return [path, ...(real === undefined ? [] : [real]), ...behindPointer];
  });
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

function deepest(folders: readonly string[]): string | undefined {
  return [...folders].sort((a, b) => b.length - a.length)[0];
}

/** Some file systems do not tell `.GIT` from `.git`. */
function isInsideInAnyCase(path: string, folder: string): boolean {
  return isInside(path.toLowerCase(), folder.toLowerCase());
}
