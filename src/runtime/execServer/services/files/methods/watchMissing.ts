import type { FSWatcher, Stats } from 'node:fs';
import { watch } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Disposable } from '../../../../../base/disposable.ts';
import { holding } from '../held.ts';
import type { Judge } from '../judge.ts';

/** What is watched: the names that are not there, and the folders whose change can make them come. */
interface Observed {
  readonly missing: readonly string[];
  readonly present: string | undefined;
}

/**
 * Waits until one of the missing paths, or the first missing folder on the way to one, comes to be, or until what is
 * present changes or goes; then `changed` is called once. Undefined when it is not so to begin with, or when a link
 * lies on the way: then nothing could be told for certain.
 */
export async function watchMissing(
  { missing, present }: Observed,
  judge: Judge,
  changed: () => void,
): Promise<Disposable | undefined> {
  const absences = await Promise.all(missing.map((path) => firstMissing(path, judge)));
  const presence = present === undefined ? undefined : await entryAt(present, judge);
  if (absences.includes(undefined) || (present !== undefined && presence === undefined)) {
    return undefined;
  }
  const names = [...new Set(absences as string[])];
  const watchers: FSWatcher[] = [];
  const state = { isOver: false };
  const end = (): void => {
    state.isOver = true;
    watchers.forEach((watcher) => watcher.close());
  };
  const isUnchanged = async (): Promise<boolean> => {
    const now = await Promise.all(missing.map((path) => firstMissing(path, judge)));
    const isPresent = present === undefined || isSame(presence, await entryAt(present, judge));
    return isPresent && now.every((name, index) => name === absences[index]);
  };
  const look = (): void => {
    isUnchanged().then(
      (isStill) => {
        if (!isStill && !state.isOver) {
          end();
          changed();
        }
      },
      () => undefined,
    );
  };
  try {
    for (const path of watchedPaths(names, present)) {
      watchers.push(watch(path, { persistent: false }, look).on('error', look));
    }
    // It may have come before the watching began.
    if (await isUnchanged()) {
      return { dispose: end };
    }
  } catch {
    // What was to be watched is gone already.
  }
  end();
  return undefined;
}

/** Folders, for what comes and goes in them; the present one also itself, for its content. */
function watchedPaths(names: readonly string[], present: string | undefined): Set<string> {
  const folders = names.map((name) => dirname(name));
  // When a folder on the way goes, only the one above it hears of it reliably.
  const above = folders.map((folder) => dirname(folder));
  return new Set([...folders, ...above, ...(present === undefined ? [] : [present, dirname(present)])]);
}

/** The path, or the first folder on the way to it, that does not exist; undefined when all exist, or one is a link. */
async function firstMissing(path: string, judge: Judge): Promise<string | undefined> {
  let name = path;
  for (;;) {
    if ((await lookUp(name)) !== undefined) {
      return undefined;
    }
    const folder = dirname(name);
    const isFolder = await holding(folder, 'none', async (held) => {
      judge.read(held.path);
      return held.stats.isDirectory();
    }).catch(() => undefined);
    if (isFolder === true) {
      return name;
    }
    if (isFolder === false || folder === name) {
      return undefined;
    }
    name = folder;
  }
}

async function entryAt(path: string, judge: Judge): Promise<Stats | undefined> {
  try {
    return await holding(path, 'folders', async (held) => {
      judge.read(held.path);
      return held.stats;
    });
  } catch {
    return undefined;
  }
}

async function lookUp(path: string): Promise<Stats | undefined> {
  return lstat(path).catch(() => undefined);
}

/** What comes into a folder is no change of it. */
function isSame(one: Stats | undefined, other: Stats | undefined): boolean {
  if (one === undefined || other === undefined || one.ino !== other.ino || one.mode !== other.mode) {
    return one === other;
  }
  return one.isDirectory() || (one.size === other.size && one.mtimeMs === other.mtimeMs);
}
