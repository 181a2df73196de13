import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The folders above the paths that do not exist, innermost first; on this machine by default. */
export async function missingFoldersAbove(
  paths: readonly string[],
  exists: (path: string) => Promise<boolean> = existsHere,
): Promise<readonly string[]> {
  const missing = new Set<string>();
  for (const path of paths) {
    for (
      let folder = dirname(path);
      !missing.has(folder) && !(await exists(folder));
      folder = dirname(folder)
    ) {
      missing.add(folder);
    }
  }
  return [...missing].sort((a, b) => b.length - a.length);
}

async function existsHere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
