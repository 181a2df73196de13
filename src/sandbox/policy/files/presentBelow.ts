import { join } from 'node:path';
import type { PolicyMachine } from '../input.ts';

/** The paths whose first name is in the folder: one look instead of hundreds, most of them for nothing. */
export function presentBelow(
  folder: string,
  paths: readonly string[],
  listFolder: PolicyMachine['listFolder'],
): readonly string[] {
  const names = new Set(listFolder(folder));
  return paths.filter((path) => names.has(path.split('/')[0] ?? '')).map((path) => join(folder, path));
}
