import { lstat, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * False when a folder above the path is reached through a link. A planned path has none; a link that appeared since
 * would carry the write somewhere else, where nobody judged it.
 */
export async function hasCanonicalParent(path: string): Promise<boolean> {
  let folder = dirname(path);
  while (!(await exists(folder))) {
    folder = dirname(folder);
  }
  try {
    return (await realpath(folder)) === folder;
  } catch {
    return false; // a link that leads nowhere, or a folder that nobody may look into
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}
