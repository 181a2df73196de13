import type { Stats } from 'node:fs';
import { lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { followGitPointer, isGitFolder } from './git/gitFolders.ts';
import { gitReach } from './git/gitReach.ts';
import { isInside } from './paths.ts';
import { decisionOn, deepestRule } from './policy/fileRules.ts';
import type { FileRule } from './policy/fileRules.ts';
import type { PolicyClause, SandboxPolicy } from './policy/policy.ts';
import { isUnsandboxed, writableRoots } from './policy/policy.ts';
import { hiddenWords, ruleWords } from './ruleWords.ts';
import {
  executedGitNames,
  heldNames,
  isWorkspaceFile,
  protectedNames,
  submoduleList,
} from './policy/protectedNames.ts';
import { runFolder, systemFolders } from './policy/systemFolders.ts';

/** A write that the policy does not allow. */
export interface WriteRefusal {
  readonly path: string;
  /** `untrusted` cannot be lifted by a person's yes; the others can, for one patch. */
  readonly reason: 'read-only' | 'untrusted' | 'outside' | 'hidden' | 'protected';
  readonly clause: PolicyClause;
  readonly message: string;
  readonly hint: string;
}

/** Judges a write by this process itself, as the launcher would judge that of a command; undefined means allowed. */
export type WriteAccess = (path: string) => WriteRefusal | undefined;

/**
 * The policy's answer for single writes: its rules, without the metadata at the top of writable folders, whether it
 * exists or not (reference: apply-patch §10), and without what later runs trust, such as the extension's folder.
 * Paths must be canonical: links resolved, except for one that is itself replaced.
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
    return (path) => refusedByMode(policy, path);
  }
  const rules = { files: openRules(policy, temporaryFolders), hidden: policy.hidden };
  const roots = rules.files.filter(({ access }) => access === 'write').map(({ path }) => path);
  const closed = [...systemFolders, runFolder, ...(policy.tmp === 'private' ? temporaryFolders : [])];
  const protectedPaths = [...writableRoots(policy).flatMap(protectedIn), ...trustedPaths];
  return (path) => {
    const decision = decisionOn(rules, path);
    if (decision.access === 'none') {
      return { path, reason: 'hidden', clause: 'files', ...hiddenWords(path, 'written', decision) };
    }
    const rule = deepestRule(rules.files, path);
    const isClosed = closed.some(
      (folder) => isInside(path, folder) && (rule === undefined || !isInside(rule.path, folder)),
    );
    if (rule?.access !== 'write' || isClosed) {
      return outside(policy, path, roots, rule);
    }
    // The innermost of all decides: a person may have opened a protected folder by adding it as a root.
    const guard = deepest([
      ...protectedPaths.filter((guarded) => isInside(fold(path), fold(guarded))),
      ...repositoriesOnTheWay(path, rule.path),
    ]);
    return guard === undefined || isInside(fold(rule.path), fold(guard))
      ? undefined
      : protectedBy(path, guard);
  };
}

/** The rules as the launcher enforces them: not for what the sandbox has of its own, and with a shared `/tmp`. */
function openRules(policy: SandboxPolicy, temporaryFolders: readonly string[]): readonly FileRule[] {
  const possible = policy.files.filter(({ path, access }) => access !== 'write' || isPossibleRoot(path));
  const shared = policy.tmp === 'shared' ? temporaryFolders : [];
  return [
    ...possible,
    ...shared
      .filter((folder) => !possible.some(({ path }) => path === folder))
      .map((path) => ({ path, access: 'write', source: policy.sources.tmp }) as const),
  ];
}

function refusedByMode(policy: SandboxPolicy, path: string): WriteRefusal {
  const isUntrusted = policy.sources.mode === 'untrusted';
  return {
    path,
    reason: isUntrusted ? 'untrusted' : 'read-only',
    clause: 'mode',
    message: `${path} may not be written: ${isUntrusted ? 'the workspace is not trusted' : `the sandbox of ${policy.root} is read-only`}.`,
    hint: isUntrusted
      ? 'The person has to trust the workspace first.'
      : 'The person can change it with "Cordon: Change Sandbox Mode…".',
  };
}

function outside(
  policy: SandboxPolicy,
  path: string,
  roots: readonly string[],
  rule: FileRule | undefined,
): WriteRefusal {
  // A rule of its own says more than the list of what is open; the one for everything does not.
  if (rule?.access === 'read' && roots.some((root) => isInside(rule.path, root))) {
    return {
      path,
      reason: 'outside',
      clause: 'files',
      message: `${path} may not be written: it is read-only by ${ruleWords(rule)}.`,
      hint: 'Leave it alone, or ask the person to change that rule.',
    };
  }
  return {
    path,
    reason: 'outside',
    clause: 'writableRoots',
    message: `${path} may not be written: it lies outside the folders that the sandbox of ${policy.root} lets commands write (${roots.join(', ')}).`,
    hint: 'Write inside these folders, or ask the person to add one to cordon.sandbox.writableRoots.',
  };
}

function protectedBy(path: string, guard: string): WriteRefusal {
  return {
    path,
    reason: 'protected',
    clause: 'writableRoots',
    message: `${path} may not be written: ${guard} is protected, because tools and editors run what it says.`,
    hint: 'Leave it alone, or ask the person to change it.',
  };
}

/** The launcher refuses the others: a command would not see the machine's own. */
function isPossibleRoot(root: string): boolean {
  return root !== runFolder && !systemFolders.some((folder) => isInside(root, folder));
}

/** The protected places of one writable root, as named and as they really are. */
function protectedIn(root: string): string[] {
  const git = join(root, '.git');
  const reached = isGitFolder(git) ? gitReach(git, root).filter((path) => !isInside(root, path)) : [];
  return [...namesIn(root).map((name) => join(root, name)), ...reached].flatMap((path) => {
    const place = targetOf(path);
    const isPointer = path === git && lookUp(place)?.isFile() === true;
    return [path, place, ...(isPointer ? followGitPointer(path).map((target) => target.path) : [])];
  });
}

/** As for commands: some names where they exist, the others in any case. */
function namesIn(root: string): string[] {
  const present = lookUp(root)?.isDirectory() === true ? readdirSync(root) : [];
  const kept = [...protectedNames, submoduleList].filter((name) => present.includes(name));
  const gitNames = isGitFolder(root) ? [...executedGitNames, 'commondir', 'modules', 'worktrees'] : [];
  return [...new Set([...gitNames, ...heldNames, ...kept, ...present.filter(isWorkspaceFile)])];
}

/** The first repository's folder below the root that a path leads into, whether it exists or not. */
function repositoriesOnTheWay(path: string, root: string): string[] {
  const names = path.slice(root === '/' ? 1 : root.length + 1).split('/');
  const count = names.findIndex((name) => fold(name) === '.git') + 1;
  return count === 0 ? [] : [join(root, ...names.slice(0, count))];
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
