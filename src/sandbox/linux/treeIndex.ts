import type { Dirent, Stats } from 'node:fs';
import { accessSync, constants, lstatSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import { errorCode, isInside } from '../paths.ts';
import type { HiddenGlob } from '../policy/fileRules.ts';
import { globMatcher, unsearchedFolders } from '../policy/fileRules.ts';
import { systemFolders } from '../policy/systemFolders.ts';
import type { SandboxError } from '../sandboxManager.ts';
import { identityOf } from './furtherNames.ts';

/** What a tree holds that a launcher has to treat in a special way. Absolute paths. */
export interface TreeFindings {
  /** What the globs match, at every depth: folders, files and links. */
  readonly hidden: readonly string[];
  /** Each `.git` below the top: folder, pointer file or link. */
  readonly repositories: readonly string[];
  /** Folders other than a `.git` that git would take for a repository. The top can be one. */
  readonly bareRepositories: readonly string[];
  /** Files with a second name, which may lie anywhere. */
  readonly linkedFiles: readonly LinkedFile[];
  /** Folders that this user may not list, or with something in them that has no usable path: nobody knows all of it. */
  readonly unlisted: readonly string[];
}

export interface LinkedFile {
  readonly path: string;
  /** Equal for two names of one file. */
  readonly identity: string;
}

/** Beyond this, looking at every folder before every command takes longer than most commands. */
export const maxIndexedFolders = 200_000;

/** Time stamps of files advance in steps of up to 10 ms; what changed in the same step as a reading may be missed. */
const racyMs = 20;

/** Of the kernel's 4095 bytes; launchers put their own folders before a path. */
const longestPath = 3800;

/** The event loop is given back after this long. */
const sliceMs = 4;

interface Folder {
  readonly path: string;
  /** Undefined: never looked at, or no folder (any more). */
  stats: Stats | undefined;
  readAtMs: number;
  isListed: boolean;
  /** Listed, and everything in it has a usable path. */
  isKnown: boolean;
  folders: ReadonlyMap<string, Folder>;
  /** Files, links and the like. */
  names: readonly string[];
  /** Of the regular files among the names, by name. */
  files: ReadonlyMap<string, FileIdentity>;
  /** Names that the globs of the last reading match, folders included; undefined when not tried yet. */
  hidden: readonly string[] | undefined;
}

interface FileIdentity {
  readonly identity: string;
  readonly hasMoreNames: boolean;
}

/**
 * Knows the folders below a top, without following links and without looking into {@link unsearchedFolders}, and keeps
 * that knowledge: a second reading only looks at the folders' time stamps and lists again those that changed. A file
 * that gets its second name outside of the tree is noticed only when its own folder changes.
 */
export class TreeIndex {
  readonly #top: Folder;
  readonly #maxFolders: number;
  #last: Promise<unknown> = Promise.resolve();
  #globs: string | undefined;
  #findings: TreeFindings | undefined;

  constructor(top: string, maxFolders = maxIndexedFolders) {
    this.#top = unread(top);
    this.#maxFolders = maxFolders;
  }

  /** The tree as it is at some moment after the call. Fails when there are too many folders to know them all. */
  read(globs: readonly HiddenGlob[] = []): Promise<Result<TreeFindings, SandboxError>> {
    const reading = this.#last.then(() => this.#read(globs));
    this.#last = reading.catch(() => {
      // Whoever asked for that reading hears of it; the next one starts anew.
    });
    return reading;
  }

  async #read(globs: readonly HiddenGlob[]): Promise<Result<TreeFindings, SandboxError>> {
    const key = JSON.stringify(globs.map(({ folder, glob }) => [folder, glob]));
    const isSameQuestion = key === this.#globs;
    const count = { folders: 0, changed: 0 };
    const isComplete = await visit(this.#top, (folder) => {
      count.folders++;
      if (count.folders > this.#maxFolders) {
        return false;
      }
      count.changed += update(folder) ? 1 : 0;
      if (!isSameQuestion) {
        folder.hidden = undefined;
      }
      return true;
    });
    if (!isComplete) {
      // Some folders may hold what earlier globs matched.
      this.#globs = undefined;
      return fail(tooManyFolders(this.#top.path, this.#maxFolders));
    }
    if (this.#top.isListed && !this.#top.isKnown) {
      return fail(unusableName(this.#top.path));
    }
    if (this.#findings === undefined || !isSameQuestion || count.changed > 0) {
      this.#findings = await collect(this.#top, globs);
      this.#globs = key;
    }
    return ok(this.#findings);
  }
}

/** Walks down, parents first, until the action says false; returns whether it never did. */
async function visit(top: Folder, action: (folder: Folder) => boolean): Promise<boolean> {
  const waiting = [top];
  let startedAt = performance.now();
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    if (!action(folder)) {
      return false;
    }
    for (const child of folder.folders.values()) {
      waiting.push(child);
    }
    if (performance.now() - startedAt > sliceMs) {
      await setImmediate();
      startedAt = performance.now();
    }
  }
  return true;
}

function unread(path: string): Folder {
  return {
    path,
    stats: undefined,
    readAtMs: 0,
    isListed: true,
    isKnown: true,
    folders: new Map(),
    names: [],
    files: new Map(),
    hidden: undefined,
  };
}

/** Lists the folder again if it may have changed; returns whether it did. */
function update(folder: Folder): boolean {
  const found = lstatSync(folder.path, { throwIfNoEntry: false });
  const stats = found?.isDirectory() === true ? found : undefined;
  // Anybody can set the time of modification back, but not the time of change.
  const isRacy = stats !== undefined && stats.ctimeMs > folder.readAtMs - racyMs;
  if (!isRacy && isSame(stats, folder.stats)) {
    return false;
  }
  folder.readAtMs = Date.now();
  folder.stats = stats;
  const entries = stats === undefined ? [] : entriesOf(folder.path);
  const usable = entries?.filter((entry) => hasPath(folder.path, entry)) ?? [];
  folder.isListed = entries !== undefined;
  folder.isKnown = usable.length === entries?.length;
  list(folder, usable);
  return true;
}

/** Paths that are too long, or below a name that is not text, lead nowhere: neither Node nor a mount gets there. */
function hasPath(folder: string, entry: Dirent): boolean {
  return (
    Buffer.byteLength(folder) + Buffer.byteLength(entry.name) < longestPath &&
    !(entry.isDirectory() && entry.name.includes('\ufffd'))
  );
}

function isSame(a: Stats | undefined, b: Stats | undefined): boolean {
  if (a === undefined || b === undefined) {
    return a === b;
  }
  return (
    a.mtimeMs === b.mtimeMs &&
    a.ctimeMs === b.ctimeMs &&
    a.ino === b.ino &&
    a.dev === b.dev &&
    a.mode === b.mode
  );
}

/** Undefined when the folder may not be listed, or nothing in it be looked at. */
function entriesOf(path: string): Dirent[] | undefined {
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    accessSync(path, constants.X_OK);
    return entries;
  } catch (error) {
    if (errorCode(error) === 'EACCES' || errorCode(error) === 'EPERM') {
      return undefined;
    }
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') {
      return [];
    }
    throw error;
  }
}

function list(folder: Folder, entries: readonly Dirent[]): void {
  const folders = new Map<string, Folder>();
  const names: string[] = [];
  const files = new Map<string, FileIdentity>();
  for (const entry of entries) {
    const path = join(folder.path, entry.name);
    if (entry.isDirectory() && !unsearchedFolders.has(entry.name) && !isOfSystem(path)) {
      folders.set(entry.name, folder.folders.get(entry.name) ?? unread(path));
      continue;
    }
    names.push(entry.name);
    const stats = entry.isFile() ? lstatSync(path, { throwIfNoEntry: false }) : undefined;
    if (stats !== undefined) {
      files.set(entry.name, { identity: identityOf(stats), hasMoreNames: stats.nlink > 1 });
    }
  }
  folder.folders = folders;
  folder.names = names;
  folder.files = files;
  folder.hidden = undefined;
}

/** The kernel's own: endless, and nothing in it is anybody's file. */
function isOfSystem(path: string): boolean {
  return systemFolders.some((folder) => folder === path);
}

async function collect(top: Folder, globs: readonly HiddenGlob[]): Promise<TreeFindings> {
  const hidden: string[] = [];
  const repositories: string[] = [];
  const bareRepositories: string[] = [];
  const unlisted: string[] = [];
  const shared = new Set<string>();
  await visit(top, (folder) => {
    folder.hidden ??= matchesIn(folder, globs);
    hidden.push(...folder.hidden);
    if (folder !== top && folder.names.includes('.git')) {
      repositories.push(join(folder.path, '.git'));
    }
    if (looksLikeRepository(folder)) {
      bareRepositories.push(folder.path);
    }
    if (!folder.isKnown) {
      unlisted.push(folder.path);
    }
    for (const { identity, hasMoreNames } of folder.files.values()) {
      if (hasMoreNames) {
        shared.add(identity);
      }
    }
    return true;
  });
  const linkedFiles: LinkedFile[] = [];
  if (shared.size > 0) {
    // A file that had one name when its folder was listed may have got its second one in another folder.
    await visit(top, (folder) => {
      for (const [name, { identity }] of folder.files) {
        if (shared.has(identity)) {
          linkedFiles.push({ path: join(folder.path, name), identity });
        }
      }
      return true;
    });
  }
  return { hidden, repositories, bareRepositories, linkedFiles, unlisted };
}

/** As git's own test does: links count, too. A repository without objects of its own has a `commondir`. */
function looksLikeRepository({ folders, names, path }: Folder): boolean {
  const has = (name: string): boolean => folders.has(name) || names.includes(name);
  return basename(path) !== '.git' && has('HEAD') && (has('commondir') || (has('objects') && has('refs')));
}

function matchesIn(folder: Folder, globs: readonly HiddenGlob[]): string[] {
  const tests = globs.flatMap(({ folder: base, glob }) =>
    isInside(folder.path, base)
      ? [{ start: base === '/' ? 1 : base.length + 1, isMatch: globMatcher(glob) }]
      : [],
  );
  if (tests.length === 0) {
    return [];
  }
  const names = [...folder.names.filter((name) => !unsearchedFolders.has(name)), ...folder.folders.keys()];
  return names
    .map((name) => join(folder.path, name))
    .filter((path) => tests.some(({ start, isMatch }) => isMatch(path.slice(start))));
}

/** The top cannot be closed, as other folders are: it is where commands work. */
function unusableName(top: string): SandboxError {
  return {
    kind: 'clause-unenforceable',
    message: `${top} has a folder whose name is not UTF-8, so that nothing in it can be protected or hidden.`,
    hint: `Give it another name, or move it into another folder (find ${top} -maxdepth 1 -type d).`,
  };
}

function tooManyFolders(top: string, limit: number): SandboxError {
  return {
    kind: 'clause-unenforceable',
    message: `${top} has more than ${limit} folders, too many to look for hidden files and repositories before every command.`,
    hint: 'Open a folder further down as the root, or move generated folders out of it. Of a repository around the root do without the rest (":repository": "none" in cordon.sandbox.files).',
  };
}
