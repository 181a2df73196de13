import { dirname } from 'node:path';
import { lookUp } from '../../git/gitFolders.ts';
import { depthOf, isInside } from '../../paths.ts';
import type { LinkedFile } from '../treeIndex.ts';

/** Installed packages: their managers link thousands of files to a store, and install by making new ones. */
const dependencyFolders = /\/(\.?venv|site-packages|\.yarn|\.pnpm-store|conda-meta)\//;

/** So many mounts of single files; beyond that, the folders that hold them. */
const maxFiles = 64;

/**
 * The files that have more names than were found, so that the others may lie anywhere: writing to them would write
 * there. Many of them are given as the folders that hold them, below the roots.
 */
export function filesWithNamesOutside(files: readonly LinkedFile[], roots: readonly string[]): string[] {
  const names = Map.groupBy(files, ({ identity }) => identity);
  let places = [...names.values()]
    .filter((same) => (lookUp(same[0]?.path ?? '')?.nlink ?? 0) > same.length)
    .flat()
    .map(({ path }) => path)
    .filter((path) => !dependencyFolders.test(path));
  const isRoot = (folder: string): boolean => roots.some((root) => isInside(root, folder));
  for (let depth = Math.max(0, ...places.map(depthOf)) - 1; places.length > maxFiles && depth > 0; depth--) {
    const above = (path: string): string => (isRoot(dirname(path)) ? path : dirname(path));
    places = [...new Set(places.map((path) => (depthOf(path) > depth ? above(path) : path)))];
  }
  return places;
}
