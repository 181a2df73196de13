import type { Dirent } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import type { Held } from '../held.ts';
import { placeIn } from '../held.ts';
import type { Judge } from '../judge.ts';
import { codeOf } from '../osErrors.ts';

/** What an entry is; of a link, what it leads to. */
export type Kind = 'file' | 'directory' | 'other';

/** Reads the entries of a held folder, up to `most` of them. */
export async function listFolder(folder: Held, most: number): Promise<Dirent[]> {
  const entries: Dirent[] = [];
  const directory = await opendir(folder.at, { bufferSize: 512 });
  for await (const entry of directory) {
    entries.push(entry);
    if (entries.length === most) {
      break;
    }
  }
  return entries;
}

/** Reads all entries of a held folder, and keeps the first ones by name, up to `most` of them. */
export async function firstByName(folder: Held, most: number): Promise<Dirent[]> {
  let first: Dirent[] = [];
  const keep = (): void => {
    first = first.sort(byName).slice(0, most);
  };
  const directory = await opendir(folder.at, { bufferSize: 512 });
  for await (const entry of directory) {
    first.push(entry);
    if (first.length >= 2 * most + 1024) {
      keep();
    }
  }
  keep();
  return first;
}

function byName(one: Dirent, other: Dirent): number {
  return one.name < other.name ? -1 : 1;
}

/** Undefined for links that lead nowhere, for what has just gone, and for what the judge does not show. */
export async function kindOf(folder: Held, entry: Dirent, judge: Judge): Promise<Kind | undefined> {
  if (!isShown(placeIn(folder, entry.name).path, judge)) {
    return undefined;
  }
  if (entry.isFile()) {
    return 'file';
  }
  if (entry.isDirectory()) {
    return 'directory';
  }
  if (entry.isFIFO() || entry.isSocket() || entry.isCharacterDevice() || entry.isBlockDevice()) {
    return 'other';
  }
  try {
    const stats = await stat(placeIn(folder, entry.name).at);
    return stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : 'other';
  } catch (error) {
    if (codeOf(error) === undefined) {
      throw error;
    }
    return undefined;
  }
}

function isShown(path: string, judge: Judge): boolean {
  try {
    judge.read(path);
    return true;
  } catch {
    return false;
  }
}
