import { relative } from 'node:path';
import picomatch from 'picomatch';
import { isInside } from '../../sandbox/paths.ts';

/** The settings `files.readonlyInclude` and `files.readonlyExclude`, as they hold for one file. */
export interface ReadOnlySettings {
  readonly include: Readonly<Record<string, boolean>>;
  readonly exclude: Readonly<Record<string, boolean>>;
  /** The workspace folder that relative patterns start from. */
  readonly folder: string | undefined;
}

/** The pattern that makes a file read-only in the editor; undefined when none does. */
export function readOnlyPattern(path: string, settings: ReadOnlySettings): string | undefined {
  const { include, exclude, folder } = settings;
  const matching = (patterns: Readonly<Record<string, boolean>>): string | undefined =>
    Object.keys(patterns).find((pattern) => patterns[pattern] === true && matches(pattern, path, folder));
  return matching(exclude) === undefined ? matching(include) : undefined;
}

function matches(pattern: string, path: string, folder: string | undefined): boolean {
  const isRelative = !pattern.startsWith('/') && folder !== undefined && isInside(path, folder);
  return picomatch.isMatch(isRelative ? relative(folder, path) : path, pattern, {
    dot: true,
    nonegate: true,
  });
}
