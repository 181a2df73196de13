import type { Stats } from 'node:fs';
import { lstatSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Result } from '../../../base/result.ts';
import { fail, ok } from '../../../base/result.ts';
import { followGitPointer, isGitFolder } from '../../gitFolders.ts';
import { isInside } from '../../paths.ts';
import { executedGitNames, protectedNames } from '../../policy/protectedNames.ts';
import type { SandboxError } from '../../sandboxManager.ts';

/** Of the names that git executes from, a missing one would be run by git as soon as it exists, and an empty one harms nobody. */
const gitNamesNeverMade: ReadonlySet<string> = new Set(['hooks']);

/** Paths to protect in the writable roots of one policy. */
export interface ProtectedPaths {
  /** Existing: shown read-only. */
  readonly existing: readonly string[];
  /** Missing, or mount points of another run: must not come to be. */
  readonly missing: readonly string[];
  /**
   * Missing files that cannot be kept from coming to be, because an empty folder in their place would already break
   * git: to be removed after the run. A `commondir` makes git take hooks and configuration from where it says.
   */
  readonly traps: readonly string[];
}

/**
 * Finds the metadata to protect. A writable root that is a protected path itself (a person added it) is opened,
 * except for what git would execute from it. Fails when a protected name is a symbolic link or leads to nothing:
 * neither can be covered by a mount.
 */
export function findProtectedPaths(writableRoots: readonly string[]): Result<ProtectedPaths, SandboxError> {
  const existing: string[] = [];
  const missing: string[] = [];
  const traps: string[] = [];
  for (const root of writableRoots) {
    const folder = lstatSync(root, { throwIfNoEntry: false });
    if (folder?.isDirectory() !== true) {
      continue;
    }
    for (const { name, isMadeImpossible } of namesIn(root)) {
      const path = join(root, name);
      if (writableRoots.includes(path)) {
        continue;
      }
      const entry = lstatSync(path, { throwIfNoEntry: false });
      if (entry === undefined) {
        if (name === 'commondir') {
          traps.push(path);
        } else if (isMadeImpossible && mayGetEntries(folder)) {
          missing.push(path);
        }
        continue;
      }
      if (entry.isSymbolicLink()) {
        return fail(symbolicLink(path));
      }
      existing.push(path);
      if (name === '.git' && entry.isFile()) {
        for (const target of followGitPointer(path)) {
          if (
            !writableRoots.some((writable) => isInside(target.path, writable)) ||
            writableRoots.includes(target.path)
          ) {
            continue;
          }
          if (target.isMissing) {
            return fail(danglingPointer(path, target.path));
          }
          existing.push(target.path);
        }
      }
    }
  }
  return ok({ existing, missing, traps });
}

/**
 * A folder that looks like a repository gets the repository's names in addition, never instead: a command could make
 * any root look like one. Only a folder called `.git` needs no metadata of tools beside git's own.
 */
function namesIn(root: string): { readonly name: string; readonly isMadeImpossible: boolean }[] {
  return [
    ...(isGitFolder(root) ? executedGitNames : []).map((name) => ({
      name,
      isMadeImpossible: gitNamesNeverMade.has(name),
    })),
    ...protectedNames.map((name) => ({ name, isMadeImpossible: basename(root) !== '.git' })),
  ];
}

/**
 * Whether a process of this user without capabilities could ever create something there. Where it could not, neither
 * could bubblewrap make a mount point, and it would refuse to start.
 */
function mayGetEntries(folder: Stats): boolean {
  return folder.uid === process.getuid?.() || (folder.mode & 0o022) !== 0;
}

function symbolicLink(path: string): SandboxError {
  return {
    kind: 'clause-unenforceable',
    message: `${path} is a symbolic link, which bubblewrap cannot protect from being replaced.`,
    hint: `Replace the link by what it leads to, or use the mode read-only for this root.`,
  };
}

function danglingPointer(pointer: string, target: string): SandboxError {
  return {
    kind: 'clause-unenforceable',
    message: `${pointer} names the repository folder ${target}, which does not exist and could be made by the command.`,
    hint: `Repair or remove ${pointer} (git worktree repair), or use the mode read-only for this root.`,
  };
}
