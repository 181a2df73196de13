import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { errorCode } from './paths.ts';

/** A repository's own folder that a pointer leads to; `missing` when there is nothing at the end of it. */
export interface GitTarget {
  readonly path: string;
  readonly isMissing: boolean;
}

/**
 * Where a `.git` pointer file leads: the folder after `gitdir:` and, from its `commondir` file, the folder with the
 * hooks and the configuration (gitrepository-layout(5)). Empty for a file that is no pointer.
 */
export function followGitPointer(pointer: string): GitTarget[] {
  const target = /^gitdir:\s*(.+?)\s*$/m.exec(readSmall(pointer))?.[1];
  if (target === undefined) {
    return [];
  }
  const folder = canonical(resolve(pointer, '..', target));
  if (folder.isMissing) {
    return [folder];
  }
  const common = readSmall(join(folder.path, 'commondir')).trim();
  return common === '' ? [folder] : [folder, canonical(resolve(folder.path, common))];
}

/** Whether a folder is the inside of a repository: `.git` itself, or what a pointer or a bare repository has. */
export function isGitFolder(path: string): boolean {
  return exists(join(path, 'HEAD')) && (exists(join(path, 'objects')) || exists(join(path, 'commondir')));
}

function canonical(path: string): GitTarget {
  try {
    return { path: realpathSync(path), isMissing: false };
  } catch {
    // Missing, or a broken or circular link: nothing of it can be protected by a mount.
    return { path, isMissing: true };
  }
}

function readSmall(path: string): string {
  try {
    return readFileSync(path, 'utf8').slice(0, 4096);
  } catch (error) {
    if (errorCode(error) === undefined) {
      throw error;
    }
    return '';
  }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
