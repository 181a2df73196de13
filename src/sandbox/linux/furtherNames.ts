import type { Stats } from 'node:fs';
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Beyond this, the search takes longer than most commands. What lies deep in a big home folder is not found. */
const maxEntries = 20_000;

/** Equal for two names of one file. */
export const identityOf = ({ dev, ino }: Pick<Stats, 'dev' | 'ino'>): string => `${dev}:${ino}`;

/**
 * Which of the wanted files have a name in one of the hidden folders, folder after folder, the nearest names first.
 * `isHidden` says where the search goes on.
 */
export function namedIn(
  folders: readonly string[],
  wanted: ReadonlySet<string>,
  isHidden: (path: string) => boolean,
): ReadonlySet<string> {
  const found = new Set<string>();
  if (wanted.size === 0) {
    return found;
  }
  let count = 0;
  for (const folder of folders) {
    const waiting = [folder];
    for (const path of waiting) {
      for (const name of namesIn(path)) {
        const entry = join(path, name);
        const stats = statsOf(entry);
        count++;
        if (found.size === wanted.size || count > maxEntries) {
          return found;
        }
        if (stats?.isDirectory() === true && isHidden(entry)) {
          waiting.push(entry);
        } else if (stats?.isFile() === true && wanted.has(identityOf(stats)) && isHidden(entry)) {
          found.add(identityOf(stats));
        }
      }
    }
  }
  return found;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // A file, missing, or not for this user, who then cannot have given anything in it a second name.
    return [];
  }
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // Behind a folder that this user may not enter.
    return undefined;
  }
}
