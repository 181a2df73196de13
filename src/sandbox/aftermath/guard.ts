import type { FSWatcher } from 'node:fs';
import { lstatSync, readlinkSync, symlinkSync, watch, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parseGitConfig } from '../git/configFile.ts';
import { runsProgram } from '../git/executedKeys.ts';
import type { Finding } from './finding.ts';
import { readRealFile } from './realFile.ts';
import { inRealFolder, setAside } from './realFolder.ts';

/**
 * A name that mounts cannot keep as it is: a symbolic link, or a file that must not come to be where git fails on a
 * folder. It is watched during the run and put right, at the latest afterwards.
 */
export interface Guard {
  readonly path: string;
  /**
   * A file's content as Latin-1, a link's target, or nothing at all. A `config` may change as long as it makes git run
   * nothing new.
   */
  readonly expected:
    | { readonly kind: 'file' | 'config'; readonly content: string }
    | { readonly kind: 'link'; readonly target: string }
    | { readonly kind: 'absent' };
  /** Whether git itself has reasons to remove it: the pointer of a worktree that goes. */
  readonly mayGo: boolean;
}

/** Makes the name again what it was; what stands in its place is kept beside it. Undefined when nothing was wrong. */
export function putRight(guard: Guard): Finding | undefined {
  const { path, expected } = guard;
  const link = firstLink(dirname(path));
  if (link !== undefined) {
    const aside = inRealFolder(dirname(link), (folder) => setAside(folder, basename(link)));
    return finding(guard, aside);
  }
  return inRealFolder(dirname(path), (folder) => {
    const name = basename(path);
    const place = join(folder, name);
    if (isAsExpected(place, guard)) {
      return undefined;
    }
    const isThere = lstatSync(place, { throwIfNoEntry: false }) !== undefined;
    const aside = isThere ? setAside(folder, name) : undefined;
    if (expected.kind === 'file' || expected.kind === 'config') {
      writeFileSync(place, expected.content, { encoding: 'latin1', flag: 'wx' });
    } else if (expected.kind === 'link') {
      symlinkSync(expected.target, place);
    }
    return finding(guard, aside);
  });
}

/** Puts right during the run, within milliseconds: the editor's own git may look at any time. */
export class GuardWatch {
  readonly #findings: Finding[] = [];
  readonly #watchers: FSWatcher[] = [];
  readonly #guards: readonly Guard[];

  constructor(guards: readonly Guard[]) {
    this.#guards = guards;
    for (const [folder, inside] of Map.groupBy(guards, ({ path }) => dirname(path))) {
      this.#watch(folder, new Map(inside.map((guard) => [basename(guard.path), guard])));
    }
  }

  /** Ends the watch with a last look at everything. */
  end(): readonly Finding[] {
    for (const watcher of this.#watchers) {
      watcher.close();
    }
    this.#guards.forEach((guard) => this.#check(guard));
    return this.#findings;
  }

  #watch(folder: string, guards: ReadonlyMap<string, Guard>): void {
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        const guard = guards.get(name ?? '');
        if (guard !== undefined) {
          this.#check(guard);
        }
      });
      // The folder went away, or the machine's limit of watches is reached: the last look sees what there is.
      watcher.on('error', () => watcher.close());
      this.#watchers.push(watcher);
    } catch {
      // As above.
    }
  }

  #check(guard: Guard): void {
    try {
      const found = putRight(guard);
      const isKnown = this.#findings.some(({ path }) => path === found?.path);
      if (found !== undefined && !isKnown) {
        this.#findings.push(found);
      }
    } catch {
      // The command changed it in between; the next look finds what it left.
    }
  }
}

function isAsExpected(place: string, { expected, mayGo }: Guard): boolean {
  const entry = lstatSync(place, { throwIfNoEntry: false });
  if (entry === undefined) {
    return mayGo || expected.kind === 'absent';
  }
  switch (expected.kind) {
    case 'absent':
      return false;
    case 'file':
      return readRealFile(place) === expected.content;
    case 'config':
      return runsNothingNew(readRealFile(place), expected.content);
    case 'link':
      return entry.isSymbolicLink() && readlinkSync(place) === expected.target;
  }
}

function runsNothingNew(text: string | undefined, before: string): boolean {
  const known = new Set(programsIn(before));
  return text === before || programsIn(text)?.every((program) => known.has(program)) === true;
}

/** Undefined for what git could not read. */
function programsIn(text: string | undefined): string[] | undefined {
  return text === undefined
    ? undefined
    : parseGitConfig(text)
        ?.filter(runsProgram)
        .map(({ key, value }) => `${key}=${value}`);
}

/** Guarded paths had no links in them. */
function firstLink(folder: string): string | undefined {
  const above = folder === dirname(folder) ? undefined : firstLink(dirname(folder));
  return (
    above ?? (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink() === true ? folder : undefined)
  );
}

function finding({ path, expected }: Guard, aside: string | undefined): Finding {
  const kept = aside === undefined ? '' : `; what stood there is now called ${aside}`;
  return expected.kind === 'absent'
    ? {
        path,
        what: 'redirect',
        message: `A command made ${path}, which redirects git to a configuration of its own: it was taken away${kept}.`,
      }
    : {
        path,
        what: 'replaced',
        message: `A command replaced ${path}, which editors or git obey: it was put back${kept}.`,
      };
}
