import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { ConfigEntry } from './configFile.ts';
import { parseGitConfig } from './configFile.ts';
import { runsProgram } from './executedKeys.ts';
import { lookUp } from './gitFolders.ts';
import { readText } from './readText.ts';

/** As in git itself. */
const maxIncludeDepth = 10;
const maxConfigBytes = 1 << 20;

/**
 * Places that a repository's configuration, or the person's own, lets git execute or read more configuration from:
 * the folder with the hooks (`.husky/_`), included files, programs named by their path. They may be missing.
 */
export function gitReach(gitFolder: string, workTree: string): string[] {
  const files = [join(gitFolder, 'config'), join(gitFolder, 'config.worktree'), ...personsFiles()];
  return [...new Set(files.flatMap((file) => reachOf(file, workTree, 0)))];
}

function reachOf(file: string, workTree: string, depth: number): string[] {
  if (depth > maxIncludeDepth) {
    return [];
  }
  return executingEntries(file).flatMap(({ key, value }) => {
    if (value === undefined) {
      return [];
    }
    if (key.startsWith('include')) {
      const included = placeOf(value, dirname(file));
      return [included, ...reachOf(included, workTree, depth + 1)];
    }
    if (key === 'core.hookspath') {
      const place = placeOf(value, workTree);
      // Husky's stubs run their neighbours one folder up.
      return place.endsWith('/.husky/_') ? [dirname(place)] : [place];
    }
    const program = /^!?\s*["']?([^\s"']+)/.exec(value)?.[1] ?? '';
    const isPath = program.includes('/') && lookUp(placeOf(program, workTree))?.isDirectory() === false;
    return isPath ? [placeOf(program, workTree)] : [];
  });
}

function personsFiles(): string[] {
  const home = homedir();
  const base = process.env['XDG_CONFIG_HOME'] ?? '';
  return [
    '/etc/gitconfig',
    join(isAbsolute(base) ? base : join(home, '.config'), 'git/config'),
    join(home, '.gitconfig'),
  ];
}

interface Known {
  readonly stamp: string;
  readonly entries: readonly ConfigEntry[];
}

/** Read before every command, changed hardly ever. */
const known = new Map<string, Known>();

/** None for a file that git would reject, because then git does nothing in that repository. */
function executingEntries(file: string): readonly ConfigEntry[] {
  const stats = lookUp(file);
  if (stats === undefined) {
    return [];
  }
  const stamp = `${stats.ino} ${stats.size} ${stats.ctimeMs}`;
  const last = known.get(file);
  // A link says nothing about what it leads to.
  if (last?.stamp === stamp && stats.isFile()) {
    return last.entries;
  }
  const entries = (parseGitConfig(readText(file, maxConfigBytes) ?? '') ?? []).filter(runsProgram);
  known.set(file, { stamp, entries });
  return entries;
}

function placeOf(path: string, base: string): string {
  return path.startsWith('~/') ? join(homedir(), path.slice(2)) : resolve(base, path);
}
