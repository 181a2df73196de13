import { dirname } from 'node:path';
import { lookUp } from '../../git/gitFolders.ts';
import { depthOf, isInside } from '../../paths.ts';
import type { LinkedFile } from '../treeIndex.ts';

/** Installed packages: their managers link thousands of files to a store, and install by making new ones. */
const dependencyFolders = /\/(\.?venv|site-packages|\.yarn|\.pnpm-store|conda-meta)\//;

/** So many mounts of single files; beyond that, the folders that hold them. */
const maxFiles = 64;

/** Those that have more names than these, so that the others may lie anywhere. */
export function withNamesOutside(files: readonly LinkedFile[]): readonly LinkedFile[] {
  return [...Map.groupBy(files, ({ identity }) => identity).values()]
    .filter((names) => (lookUp(names[0]?.path ?? '')?.nlink ?? 0) > names.length)
    .flat()
    .filter(({ path }) => !dependencyFolders.test(path));
}

/**
 * What keeps a command from writing to files outside by the names that they have among these: the files, or, of many,
 * the folders that hold them, below the roots.
 */
export function filesWithNamesOutside(files: readonly LinkedFile[], roots: readonly string[]): string[] {
  let places = withNamesOutside(files)
    .map(({ path }) => path)
    // Who opens one file means it.
    .filter((path) => !roots.includes(path));
  const isRoot = (folder: string): boolean => roots.some((root) => isInside(root, folder));
  for (let depth = Math.max(0, ...places.map(depthOf)) - 1; places.length > maxFiles && depth > 0; depth--) {
    const above = (path: string): string => (isRoot(dirname(path)) ? path : dirname(path));
    places = [...new Set(places.map((path) => (depthOf(path) > depth ? above(path) : path)))];
  }
  return places;
}
