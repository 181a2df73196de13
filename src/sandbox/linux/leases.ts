import type { FSWatcher } from 'node:fs';
import { lstatSync, mkdirSync, readFileSync, readdirSync, rmSync, watch } from 'node:fs';
import { join } from 'node:path';
import type { DeniedCall } from '../denials/deniedCall.ts';
import { pathHash } from './pathHash.ts';
import type { RunProgram } from './runProgram.ts';
import { readDeniedCalls } from './seccomp/deniedCalls.ts';

/** A keeper needs less than a millisecond; one that was killed is never done. */
const patienceMs = 2_000;

/**
 * The companion program's notes about mount points: made, locked and removed by its keepers, only looked at here.
 * A mount point is an empty folder or file that a run puts where a name must not come to be.
 */
export class Leases {
  readonly folder: string;
  readonly #waiting = new Set<() => void>();
  #watcher: FSWatcher | undefined;

  /** `ownFolder`: the user's. */
  constructor(ownFolder: string) {
    this.folder = join(ownFolder, 'leases');
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
  }

  /**
   * True for a path that is empty because of this or another run: nothing of a person's. Also for one that is gone
   * since somebody saw it there: that run has ended.
   */
  isMountPoint(path: string): boolean {
    return (isVacant(path) && exists(join(this.folder, leaseName(path)))) || !exists(path);
  }

  /** Resolves when the run's keeper has put everything in order: soon after the end; false when it was killed. */
  async settled(run: string): Promise<boolean> {
    const note = join(this.folder, run);
    if (!exists(note)) {
      return true;
    }
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(patience);
        this.#waiting.delete(look);
        resolve(!exists(note));
      };
      // Somebody may have put another folder in the place of the one that is watched.
      const patience = setTimeout(() => {
        this.#stopWatching();
        finish();
      }, patienceMs);
      const look = (): void => void (exists(note) || finish());
      this.#waiting.add(look);
      this.#watch();
      look();
    });
  }

  /** One watcher for all runs, because making one costs the kernel milliseconds. It does not keep the process alive. */
  #watch(): void {
    this.#watcher ??= watch(this.folder, { persistent: false })
      .on('change', () => this.#waiting.forEach((look) => look()))
      .on('error', () => this.#stopWatching());
  }

  #stopWatching(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  /** True, once, when a keeper removed the file `path` after a run. */
  takeNote(path: string): boolean {
    const note = join(this.folder, trapName(path));
    const isThere = exists(note);
    rmSync(note, { force: true });
    return isThere;
  }

  /** What the keeper of a run that is over says of refused system calls, once. */
  takeCalls(run: string): readonly DeniedCall[] {
    const file = join(this.folder, callsName(run));
    if (!exists(file)) {
      return [];
    }
    const text = readFileSync(file, 'latin1');
    rmSync(file);
    return readDeniedCalls(text);
  }

  /** Removes what runs left whose keepers were killed. Fails with what the companion program says. */
  async sweep(helperPath: string, run: RunProgram): Promise<void> {
    const { exitCode, stderr } = await run(helperPath, ['--sweep', this.folder]);
    if (exitCode !== 0) {
      throw new Error(stderr.trim() || `the launcher ended with ${exitCode ?? 'a signal'}`);
    }
  }
}

/** The same in every process: runs that need the same mount point meet at its lease. */
export function leaseName(path: string): string {
  return pathHash(path);
}

export function callsName(run: string): string {
  return `${run}.calls`;
}

export function trapName(path: string): string {
  return `${leaseName(path)}.removed`;
}

function isVacant(path: string): boolean {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  return entry?.isDirectory() === true ? isEmptyFolder(path) : entry?.isFile() === true && entry.size === 0;
}

function isEmptyFolder(path: string): boolean {
  try {
    return readdirSync(path).length === 0;
  } catch {
    // Whoever may not list a folder has not made it.
    return false;
  }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
