import type { Stats } from 'node:fs';
import { readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { Guard } from '../../aftermath/guard.ts';
import { readRealFile } from '../../aftermath/realFile.ts';
import type { GitTarget } from '../../git/gitFolders.ts';
import {
  followGitPointer,
  gitAbove,
  innerGitFolders,
  isGitFolder,
  lookUp,
  ownTargets,
} from '../../git/gitFolders.ts';
import { gitReach } from '../../git/gitReach.ts';
import { isBelow, isInside } from '../../paths.ts';
import { accessTo, deepestRule } from '../../policy/fileRules.ts';
import type { SandboxPolicy } from '../../policy/policy.ts';
import { writableRoots } from '../../policy/policy.ts';
import {
  executedGitNames,
  heldGitNames,
  heldNames,
  homeNames,
  isWorkspaceFile,
  protectedNames,
  submoduleList,
} from '../../policy/protectedNames.ts';
import type { TreeFindings } from '../treeIndex.ts';
import { filesWithNamesOutside } from './linkedFiles.ts';

/** Metadata of a policy's writable places, and how each of it is kept as it is. Canonical paths. */
export interface ProtectedPaths {
  /** Shown read-only. */
  readonly existing: readonly string[];
  /** Must not come to be: covered by an empty folder. */
  readonly missing: readonly string[];
  /** Out of the reach of mounts. */
  readonly guards: readonly Guard[];
  /** Repositories' folders outside of the writable places, without which git does not work in a root. */
  readonly outside: readonly { readonly path: string; readonly access: 'read' | 'write' }[];
  /** Every repository's folder that was found; what is new after the run is not among them. */
  readonly gitFolders: readonly string[];
  /** Those of them in which the command may write. */
  readonly writableGitFolders: readonly string[];
}

/** What of a tree the protection depends on. */
export type ProtectedTree = Pick<TreeFindings, 'repositories' | 'bareRepositories' | 'linkedFiles'>;

/**
 * Finds the metadata to protect in everything that a policy lets a command write. A rule of the person that makes a
 * protected path writable opens it, except for what git executes. `sharedFolders` are writable besides the policy's
 * rules: the machine's `/tmp`, where it is shared.
 *
 * Not covered, because mounts cannot or git could not live with it: `objects/info/alternates` (more objects to read:
 * data), attributes in the tree (they choose among configured drivers), `gitweb` and `lfs` in the repository's folder
 * (obeyed by programs that a person starts by name), hooks in the root itself (`core.hooksPath = .`), hard links
 * between object stores (objects are checked by their hash), and everything below `node_modules`.
 */
export function findProtectedPaths(
  policy: SandboxPolicy,
  tree: ProtectedTree,
  sharedFolders: readonly string[] = [],
): ProtectedPaths {
  const search = new Search(policy, sharedFolders);
  for (const root of writableRoots(policy)) {
    search.root(root);
  }
  for (const repository of tree.repositories.filter((path) => search.isWritable(path))) {
    search.repository(repository, false);
  }
  for (const folder of tree.bareRepositories.filter((path) => search.isWritable(path))) {
    search.insides(folder, folder);
  }
  const linkedFiles = tree.linkedFiles.filter((file) => search.isWritable(file.path));
  for (const path of filesWithNamesOutside(linkedFiles, writableRoots(policy))) {
    search.keep(path);
  }
  return search.result();
}

class Search {
  readonly #policy: SandboxPolicy;
  readonly #roots: readonly string[];
  readonly #sharedFolders: readonly string[];
  readonly #mayRunGit: boolean;
  readonly #existing = new Set<string>();
  readonly #missing = new Set<string>();
  /** Folders in which something could be made. */
  readonly #growing = new Set<string>();
  readonly #guards = new Map<string, Guard>();
  readonly #outside = new Map<string, 'read' | 'write'>();
  readonly #gitFolders = new Set<string>();
  readonly #writableGitFolders = new Set<string>();

  constructor(policy: SandboxPolicy, sharedFolders: readonly string[]) {
    this.#policy = policy;
    this.#roots = writableRoots(policy);
    this.#sharedFolders = sharedFolders;
    this.#mayRunGit = policy.git === 'writable';
  }

  isWritable(path: string): boolean {
    return (
      accessTo(this.#policy, path) === 'write' || this.#sharedFolders.some((folder) => isInside(path, folder))
    );
  }

  /** The names at the top of a writable root. */
  root(root: string): void {
    if (lookUp(root)?.isDirectory() !== true) {
      return;
    }
    // A folder that looks like a repository gets the repository's names in addition, never instead: a command could
    // make any root look like one.
    if (isGitFolder(root)) {
      this.insides(root, basename(root) === '.git' ? dirname(root) : root);
    }
    const isOpenedMetadata = protectedNames.includes(basename(root));
    for (const { name, isHeld, mayBeThere } of isOpenedMetadata ? [] : namesIn(root)) {
      const path = join(root, name);
      if (name === '.git') {
        this.repository(path, true);
      } else if (!mayBeThere) {
        this.#hold(path);
      } else if (!this.#roots.includes(path)) {
        this.keep(path, isHeld);
      }
    }
    if (!this.#mayRunGit) {
      this.keep(join(root, submoduleList));
    }
  }

  /** A `.git`, whatever it is. `isTop`: that of a root, which no command may remove. */
  repository(path: string, isTop: boolean): void {
    const entry = lookUp(path);
    if (entry === undefined) {
      // Where there is none at all, `git init` makes one, which is looked at after the run.
      this.keep(path, this.#openRepositoryAbove(dirname(path)) || !this.#mayRunGit);
      return;
    }
    if (entry.isDirectory()) {
      this.#gitFolder(path, dirname(path));
      return;
    }
    if (this.#mayRunGit && !isTop && entry.isFile()) {
      // A mount would keep `git worktree remove` from doing its work.
      this.#guardFile(path);
    } else {
      this.keep(path);
    }
    const targets = targetsOf(path);
    for (const target of targets.filter(({ path: place }) => this.isWritable(place))) {
      this.#target(target, dirname(path));
    }
    this.#openTargets(path, targets);
  }

  /** What git executes from a repository's folder that is writable otherwise, and from those inside of it. */
  insides(folder: string, workTree: string): void {
    for (const gitFolder of [folder, ...innerGitFolders(folder)]) {
      for (const name of executedGitNames) {
        const path = join(gitFolder, name);
        if (name === 'config' && isOfSubmodule(gitFolder)) {
          this.#guardFile(path, 'config');
        } else if (lookUp(path) !== undefined) {
          this.keep(path);
        } else if (heldGitNames.has(name) && isGitFolderOfItsOwn(gitFolder)) {
          this.keep(path, true);
        } else if (!heldGitNames.has(name)) {
          this.#guardFile(path);
        }
      }
      // It makes git take hooks and configuration from where it says.
      this.#guardFile(join(gitFolder, 'commondir'));
      this.#gitFolders.add(gitFolder);
    }
    this.#writableGitFolders.add(folder);
    this.#reach(folder, workTree);
  }

  /** Shows it read-only; where it is missing, and `isHeld`, keeps it from coming to be. Follows a link. */
  keep(path: string, isHeld = false): void {
    const entry = lookUp(path);
    if (entry === undefined) {
      if (isHeld) {
        this.#hold(path);
      }
    } else if (!entry.isSymbolicLink()) {
      this.#existing.add(path);
    } else if (!this.#guards.has(path)) {
      this.#guards.set(path, {
        path,
        expected: { kind: 'link', target: readlinkSync(path) },
        mayGo: false,
      });
      const target = linkTarget(path);
      const isRoot = this.#roots.some((root) => isInside(root, target.path));
      if (this.isWritable(target.path) && !isRoot) {
        this.keep(target.path, true);
      }
    }
  }

  result(): ProtectedPaths {
    return {
      existing: [...this.#existing].filter((path) => !this.#isCovered(path)),
      missing: [...this.#missing].filter((path) => !this.#isCovered(path)),
      guards: [...this.#guards.values()].filter(({ path }) => !this.#isCovered(path)),
      outside: [...this.#outside].map(([path, access]) => ({ path, access })),
      gitFolders: [...this.#gitFolders],
      writableGitFolders: [...this.#writableGitFolders],
    };
  }

  /** For a file that a mount must not cover, or that is missing where git fails on a folder. */
  #guardFile(path: string, kind: 'file' | 'config' = 'file'): void {
    const content = readRealFile(path);
    if (content !== undefined) {
      this.#guards.set(path, { path, expected: { kind, content }, mayGo: true });
    } else if (lookUp(path) === undefined) {
      this.#guards.set(path, { path, expected: { kind: 'absent' }, mayGo: true });
    } else {
      this.keep(path);
    }
  }

  #gitFolder(path: string, workTree: string): void {
    if (this.#mayRunGit || this.#roots.includes(path)) {
      this.insides(path, workTree);
      return;
    }
    this.#gitFolders.add(path);
    this.keep(path);
    this.#reach(path, workTree);
  }

  #target(target: GitTarget, workTree: string): void {
    if (target.isMissing) {
      this.#hold(target.path);
    } else {
      this.#gitFolder(target.path, workTree);
    }
  }

  /** Where commands may write the first, its word about the second is theirs. */
  #openTargets(pointer: string, targets: readonly GitTarget[]): void {
    const [folder, ...others] = ownTargets(pointer, targets);
    if (folder !== undefined && !this.isWritable(folder)) {
      [folder, ...others].forEach((path) => this.#openOutside(path, dirname(pointer)));
    }
  }

  /** The root may be a folder of a repository that begins above it; returns whether it is. */
  #openRepositoryAbove(root: string): boolean {
    const path = gitAbove(root);
    // Nobody sees what the rest of the tree is: git would take it for deleted.
    if (path === undefined || accessTo(this.#policy, dirname(path)) === 'none') {
      return path !== undefined;
    }
    if (lookUp(path)?.isDirectory() === true) {
      this.#openOutside(path, dirname(path));
    } else {
      this.#openTargets(path, targetsOf(path));
    }
    return true;
  }

  /**
   * Git does not work in a repository of another user, so that one stays closed; as does what a person's rule says,
   * and what is full of secrets.
   */
  #openOutside(path: string, workTree: string): void {
    const rule = deepestRule(this.#policy.files, path);
    const isOpen = rule === undefined || (rule.source === 'default' && rule.writtenAs !== ':secrets');
    if (this.isWritable(path) || !isOpen || lookUp(path)?.uid !== process.getuid?.()) {
      return;
    }
    if (this.#mayRunGit) {
      this.#outside.set(path, 'write');
      this.insides(path, workTree);
    } else if (accessTo(this.#policy, path) === 'none') {
      this.#outside.set(path, 'read');
    }
  }

  #reach(gitFolder: string, workTree: string): void {
    for (const path of gitReach(gitFolder, workTree)) {
      const isAboveRoot = this.#roots.some((root) => isInside(root, path));
      if (this.isWritable(path) && !isAboveRoot) {
        this.keep(path, true);
      }
    }
  }

  /** The first folder of the path that is missing. */
  #hold(path: string): void {
    const folder = dirname(path);
    // Most names that are held lie beside each other.
    if (this.#growing.has(folder)) {
      this.#missing.add(path);
      return;
    }
    const entry = lookUp(folder);
    if (entry === undefined && this.isWritable(folder)) {
      this.#hold(folder);
    } else if (entry?.isDirectory() === true && mayGetEntries(entry)) {
      this.#growing.add(folder);
      this.#missing.add(path);
    }
  }

  /** Whether a folder above is read-only already, with nothing opened in between. */
  #isCovered(path: string): boolean {
    const opened = [...this.#roots, ...this.#outside.keys()];
    return [...this.#existing].some(
      (above) =>
        isBelow(path, above) && !opened.some((folder) => isInside(path, folder) && isBelow(folder, above)),
    );
  }
}

interface ProtectedName {
  readonly name: string;
  readonly isHeld: boolean;
  /** False: nothing there has that name, whatever the case of letters means there. */
  readonly mayBeThere: boolean;
}

/** Those that are there, and those that must not come to be. */
function namesIn(root: string): ProtectedName[] {
  const entries = new Set(readdirSync(root));
  const inAnyCase = new Set([...entries].map((name) => name.toLowerCase()));
  const isHome = root === homedir();
  const names = [...protectedNames, ...[...entries].filter(isWorkspaceFile), ...(isHome ? homeNames : [])];
  return names
    .map((name) => ({
      name,
      isHeld: heldNames.includes(name) || (isHome && isOfHome(root, name)),
      mayBeThere: inAnyCase.has(name.toLowerCase()) || name.includes('/'),
    }))
    .filter(({ name, isHeld }) => isHeld || entries.has(name) || name.includes('/'));
}

function isOfHome(home: string, name: string): boolean {
  return homeNames.includes(name) && lookUp(dirname(join(home, name))) !== undefined;
}

/** `git submodule update` always writes the submodule's configuration, if only what is in it already. */
function isOfSubmodule(gitFolder: string): boolean {
  const at = gitFolder.lastIndexOf('/modules/');
  return at > 0 && isGitFolder(gitFolder.slice(0, at));
}

/** A linked worktree's folder has no hooks of its own. */
function isGitFolderOfItsOwn(folder: string): boolean {
  return lookUp(join(folder, 'objects')) !== undefined;
}

/** Where a `.git` leads that is no folder. */
function targetsOf(path: string): readonly GitTarget[] {
  return lookUp(path)?.isFile() === true ? followGitPointer(path) : [linkTarget(path)];
}

/** Where a link leads in the end, also when nothing is there. */
function linkTarget(path: string, links = 0): GitTarget {
  const entry = lookUp(path);
  if (entry?.isSymbolicLink() === true && links < maxLinks) {
    return linkTarget(placeOf(resolve(dirname(path), readlinkSync(path))), links + 1);
  }
  return { path, isMissing: entry === undefined };
}

const maxLinks = 40;

/** The path with the folders above canonical, as far as they exist. */
function placeOf(path: string): string {
  const folder = dirname(path);
  try {
    return join(realpathSync(folder), basename(path));
  } catch {
    return folder === path ? path : join(placeOf(folder), basename(path));
  }
}

/**
 * Whether a process of this user without capabilities could ever create something there. Where it could not, neither
 * could bubblewrap make a mount point, and it would refuse to start.
 */
function mayGetEntries(folder: Stats): boolean {
  return folder.uid === process.getuid?.() || (folder.mode & 0o022) !== 0;
}
