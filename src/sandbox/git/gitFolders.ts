import type { Stats } from 'node:fs';
import { lstatSync, readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { parseGitConfig } from './configFile.ts';
import { readText } from './readText.ts';

/** A repository's own folder that a pointer leads to; `missing` when there is nothing at the end of it. */
export interface GitTarget {
  readonly path: string;
  readonly isMissing: boolean;
}

const maxPointerBytes = 4096;
const maxConfigBytes = 1 << 20;
/** A submodule may be called `a/b/c`. */
const maxNameDepth = 8;

/**
 * Where a `.git` pointer file leads: the folder after `gitdir:` and, from its `commondir` file, the folder with the
 * hooks and the configuration (gitrepository-layout(5)). Empty for a file that is no pointer.
 */
export function followGitPointer(pointer: string): GitTarget[] {
  const target = /^gitdir:\s*(.+?)\s*$/m.exec(readText(pointer, maxPointerBytes) ?? '')?.[1];
  if (target === undefined) {
    return [];
  }
  const folder = canonical(resolve(pointer, '..', target));
  if (folder.isMissing) {
    return [folder];
  }
  const common = commonFolder(folder.path);
  return common === undefined ? [folder] : [folder, common];
}

/** The folder with hooks and configuration of a linked worktree's folder; undefined for any other. */
export function commonFolder(gitFolder: string): GitTarget | undefined {
  const common = readText(join(gitFolder, 'commondir'), maxPointerBytes)?.trim() ?? '';
  return common === '' ? undefined : canonical(resolve(gitFolder, common));
}

/** Whether a folder is the inside of a repository: `.git` itself, or what a pointer or a bare repository has. */
export function isGitFolder(path: string): boolean {
  const has = (name: string): boolean => lookUp(join(path, name)) !== undefined;
  return has('HEAD') && (has('objects') || has('commondir'));
}

/** The folders of the submodules and linked worktrees that live in a repository's folder, at every depth. */
export function innerGitFolders(gitFolder: string): string[] {
  const own = [
    ...namesOfFolders(join(gitFolder, 'worktrees')).map((name) => join(gitFolder, 'worktrees', name)),
    ...modulesBelow(join(gitFolder, 'modules'), 0),
  ];
  return own.flatMap((folder) => [folder, ...innerGitFolders(folder)]);
}

/**
 * Whether a repository's folder names the pointer that leads to it: the `gitdir` file of a linked worktree, or the
 * `core.worktree` of a submodule. A command can make a pointer to any repository, but not what that one says.
 */
function namesPointer(gitFolder: string, pointer: string): boolean {
  const workTree = dirname(pointer);
  const back = readText(join(gitFolder, 'gitdir'), maxPointerBytes)?.trim();
  if (back !== undefined) {
    return canonical(resolve(gitFolder, back)).path === pointer;
  }
  const entries = parseGitConfig(readText(join(gitFolder, 'config'), maxConfigBytes) ?? '') ?? [];
  const named = entries.findLast(({ key }) => key === 'core.worktree')?.value;
  return named !== undefined && canonical(resolve(gitFolder, named)).path === workTree;
}

/**
 * What git needs of the places that a `.git` leads to, a pointer file or a link: a repository's folder, if that names
 * the `.git` itself, and the one with the objects of a linked worktree, if it has that worktree's folder where git
 * keeps it. Anything else could be anybody's folder, by what a command or an archive wrote into the workspace.
 */
export function ownTargets(pointer: string, [folder, common]: readonly GitTarget[]): readonly string[] {
  if (folder === undefined || folder.isMissing || !isGitFolder(folder.path)) {
    return [];
  }
  if (!namesPointer(folder.path, pointer)) {
    return [];
  }
  const isAround = common !== undefined && dirname(folder.path) === join(common.path, 'worktrees');
  return isAround && isGitFolder(common.path) ? [folder.path, common.path] : [folder.path];
}

/** The `.git` that git finds above a folder that has none; undefined when there is none. */
export function gitAbove(folder: string): string | undefined {
  for (let above = dirname(folder); ; above = dirname(above)) {
    const candidate = join(above, '.git');
    const entry = lookUp(candidate);
    if (entry?.isFile() === true || (entry !== undefined && isGitFolder(candidate))) {
      return candidate;
    }
    if (above === dirname(above)) {
      return undefined;
    }
  }
}

/** The entry itself, not what a link leads to; undefined when there is none or it may not be looked at. */
export function lookUp(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // A folder above is closed to this user, and so to the command.
    return undefined;
  }
}

function modulesBelow(folder: string, depth: number): string[] {
  return namesOfFolders(folder).flatMap((name) => {
    const path = join(folder, name);
    return isGitFolder(path) || depth >= maxNameDepth ? [path] : modulesBelow(path, depth + 1);
  });
}

function namesOfFolders(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    // Most repositories have none.
    return [];
  }
}

/** As far as it exists, with the folders above canonical. */
function canonical(path: string): GitTarget {
  try {
    return { path: realpathSync(path), isMissing: false };
  } catch {
    // Missing, or a circular link.
    return {
      path: dirname(path) === path ? path : join(canonical(dirname(path)).path, basename(path)),
      isMissing: true,
    };
  }
}
