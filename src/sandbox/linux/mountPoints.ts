import { randomUUID } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmdirSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../paths.ts';
import { FolderLock } from './folderLock.ts';
import { formatIdentity, mayBeAlive, ownIdentity, parseIdentity } from './processIdentity.ts';

/** The mount points that one run holds. */
export interface MountPointClaim {
  /** Those of the wanted paths that have nothing of the user's: to be masked as empty. */
  readonly held: ReadonlySet<string>;
  /** Removes those that no other run holds, if they are still empty. */
  release(): Promise<void>;
}

/**
 * Keeps account of the empty folders that bubblewrap leaves on the machine as mount points for missing names.
 *
 * An empty folder may only go when no run has a mask on it: removing it outside silently detaches the mask inside
 * (measured; see the sandbox reference, §10.1). So every run of every Cordon process of the user has a marker file
 * here, and what the markers of dead processes name is swept.
 */
export class MountPoints {
  readonly #folder: string;
  readonly #lock: FolderLock;
  readonly #own = formatIdentity(ownIdentity());

  /** `folder`: the user's private runtime folder. */
  constructor(folder: string) {
    this.#folder = join(folder, 'mount-points');
    this.#lock = new FolderLock(folder);
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
  }

  claim(wanted: readonly string[]): Promise<MountPointClaim> {
    return this.#lock.run(() => {
      const others = this.#livePaths();
      const held = new Set(
        wanted.filter((path) => isMissing(path) || (others.has(path) && isEmptyFolder(path))),
      );
      if (held.size === 0) {
        return { held, release: async () => {} };
      }
      const marker = join(this.#folder, `${this.#own}-${randomUUID()}`);
      writeFileSync(marker, JSON.stringify([...held]), { mode: 0o600 });
      return { held, release: () => this.#lock.run(() => this.#drop(marker, [...held])) };
    });
  }

  /** Removes what dead processes left behind. */
  sweep(): Promise<void> {
    return this.#lock.run(() => {
      for (const { marker, paths, isLive } of this.#markers()) {
        if (!isLive) {
          this.#drop(marker, paths);
        }
      }
    });
  }

  #drop(marker: string, paths: readonly string[]): void {
    unlinkSync(marker);
    const others = this.#livePaths();
    for (const path of paths.filter((path) => !others.has(path))) {
      removeIfEmpty(path);
    }
  }

  #livePaths(): Set<string> {
    return new Set(this.#markers().flatMap(({ paths, isLive }) => (isLive ? paths : [])));
  }

  #markers(): { readonly marker: string; readonly paths: readonly string[]; readonly isLive: boolean }[] {
    return readdirSync(this.#folder).flatMap((name) => {
      const identity = parseIdentity(name);
      if (identity === undefined) {
        return [];
      }
      const marker = join(this.#folder, name);
      return [{ marker, paths: readPaths(marker), isLive: mayBeAlive(identity) }];
    });
  }
}

/** A marker cut off by a crash names nothing: its run had not started. */
function readPaths(marker: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(readFileSync(marker, 'utf8'));
    return Array.isArray(value) ? value.filter((path) => typeof path === 'string') : [];
  } catch (error) {
    if (error instanceof SyntaxError) {
      return [];
    }
    throw error;
  }
}

function isMissing(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) === undefined;
}

function isEmptyFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true && readdirSync(path).length === 0;
}

const harmless: ReadonlySet<string | undefined> = new Set([
  'ENOENT',
  'ENOTEMPTY',
  'EEXIST',
  'ENOTDIR',
  'EBUSY',
  'EROFS',
  'EACCES',
  'EPERM',
]);

/** rmdir(2) itself refuses a folder with contents; what cannot be removed now is only untidy. */
function removeIfEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch (error) {
    if (!harmless.has(errorCode(error))) {
      throw error;
    }
  }
}
