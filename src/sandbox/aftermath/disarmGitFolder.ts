import { lstatSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { commonFolder, innerGitFolders } from '../git/gitFolders.ts';
import { disarmConfig } from './disarmConfig.ts';
import type { Finding } from './finding.ts';
import { readRealFile, takeExecution } from './realFile.ts';
import { inRealFolder, setAside } from './realFolder.ts';

const todoPlace = 'rebase-merge/git-rebase-todo';
const execLine = /^[ \t]*(x|exec)[ \t].*$/gm;

/**
 * Takes from a repository's folder, and those of its submodules and worktrees, everything that git would execute:
 * hooks, variables that name programs, redirection, `exec` in an interrupted rebase. What an ordinary `git init` or
 * `git clone` makes is left as it is. Nothing is deleted: the original stays beside, as `*.disarmed`.
 */
export function disarmGitFolder(path: string): Finding[] {
  return [path, ...innerGitFolders(path)].flatMap(disarmOne);
}

export function disarmOne(path: string): Finding[] {
  return [
    ...disarmHooks(join(path, 'hooks')),
    ...disarmConfigFile(path, 'config'),
    ...disarmConfigFile(path, 'config.worktree'),
    ...disarmRedirect(path),
    ...disarmTodo(path, new Set()),
  ];
}

/** The `exec` lines of an interrupted rebase, which `git rebase --continue` would run. */
export function execLines(gitFolder: string): ReadonlySet<string> {
  return new Set(readRealFile(join(gitFolder, todoPlace))?.match(execLine) ?? []);
}

/** Makes comments of the `exec` lines that were not there before. */
export function disarmTodo(gitFolder: string, before: ReadonlySet<string>): Finding[] {
  const path = join(gitFolder, todoPlace);
  const isNew = (line: string): boolean => !before.has(line);
  const message = `${path} had commands for "git rebase --continue" to run: they are comments now`;
  return rewrite(path, 'rebase', (text) =>
    (text.match(execLine) ?? []).some(isNew)
      ? { text: text.replace(execLine, (line) => (isNew(line) ? `# ${line}` : line)), message }
      : undefined,
  );
}

function disarmHooks(path: string): Finding[] {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry !== undefined && !entry.isDirectory()) {
    return moveAway(path, 'hook', `${path} was no folder, but led to hooks elsewhere`);
  }
  const found = inRealFolder(path, (folder) =>
    readdirSync(folder, { withFileTypes: true })
      .filter(({ name }) => !/\.(sample|disarmed(-\d+)?)$/.test(name))
      .flatMap((hook) => {
        const place = join(path, hook.name);
        if (hook.isSymbolicLink()) {
          return moveAway(place, 'hook', `The git hook ${place} led to a program elsewhere`);
        }
        const message = `The git hook ${place} is new: it was made not executable. To use it, run chmod +x on it.`;
        return takeExecution(join(folder, hook.name))
          ? [{ path: place, what: 'hook', message } as const]
          : [];
      }),
  );
  return found ?? [];
}

function disarmConfigFile(folder: string, name: string): Finding[] {
  const path = join(folder, name);
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined) {
    return [];
  }
  if (!entry.isFile()) {
    return moveAway(path, 'configuration', `${path} led to a configuration elsewhere`);
  }
  return rewrite(path, 'configuration', (text) => {
    const disarmed = disarmConfig(text);
    if (disarmed === 'unreadable') {
      return { message: `${path} is no configuration that git could read` };
    }
    return (
      disarmed && {
        text: disarmed.text,
        message: `${path} made git run programs (${disarmed.keys.join(', ')}): these variables are comments now`,
      }
    );
  });
}

/** Only a linked worktree's folder has a `commondir`, and that leads two folders up. */
function disarmRedirect(folder: string): Finding[] {
  const path = join(folder, 'commondir');
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) {
    return [];
  }
  const isWorktree = basename(dirname(folder)) === 'worktrees';
  if (isWorktree && commonFolder(folder)?.path === dirname(dirname(folder))) {
    return [];
  }
  return moveAway(path, 'redirect', `${path} redirected git to a configuration of its own`);
}

interface Change {
  /** Undefined: nothing takes its place. */
  readonly text?: string;
  readonly message: string;
}

/** Replaces a file as the change says; the original is kept beside it. A file too large to judge is moved away. */
function rewrite(
  path: string,
  what: Finding['what'],
  change: (text: string) => Change | undefined,
): Finding[] {
  const found = inRealFolder(dirname(path), (folder): Finding[] => {
    const name = basename(path);
    const place = join(folder, name);
    if (lstatSync(place, { throwIfNoEntry: false }) === undefined) {
      return [];
    }
    const text = readRealFile(place);
    const wanted: Change | undefined =
      text === undefined ? { message: `${path} could not be read to the end` } : change(text);
    if (wanted === undefined) {
      return [];
    }
    const aside = setAside(folder, name);
    if (wanted.text !== undefined) {
      writeFileSync(place, wanted.text, { encoding: 'latin1', flag: 'wx' });
    }
    return [{ path, what, message: `${wanted.message}; the original is called ${aside}.` }];
  });
  return found ?? [];
}

function moveAway(path: string, what: Finding['what'], cause: string): Finding[] {
  const aside = inRealFolder(dirname(path), (folder) => setAside(folder, basename(path)));
  return aside === undefined ? [] : [{ path, what, message: `${cause}: it is now called ${aside}.` }];
}
