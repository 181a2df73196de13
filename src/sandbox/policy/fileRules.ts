import picomatch from 'picomatch';
import { isInside } from '../paths.ts';
import type { PolicySource } from './policy.ts';

/** Strictest first. `none`: neither names nor contents can be read. */
export const accesses = ['none', 'read', 'write'] as const;
export type Access = (typeof accesses)[number];

/** The access to one path and everything below it, up to the next deeper rule. */
export interface FileRule {
  readonly path: string;
  readonly access: Access;
  readonly source: PolicySource;
  /** How the person wrote it (`~/.ssh`, `:home`), where that differs from the path. */
  readonly writtenAs?: string;
}

/** Everything that matches is `none`, as if each match had a rule of its own; rules at or below a match outrank it. */
export interface HiddenGlob {
  /** Where the search begins. */
  readonly folder: string;
  /** In picomatch's language, relative to the folder, names with a leading dot included. */
  readonly glob: string;
  readonly source: PolicySource;
}

/** Globs do not look in here: big, generated, and nobody keeps secrets there. */
export const unsearchedFolders: ReadonlySet<string> = new Set(['node_modules', '.git']);

interface Rules {
  readonly files: readonly FileRule[];
  readonly hidden: readonly HiddenGlob[];
}

/** The access that the rules give to a canonical path, before the protection of metadata. */
export function accessTo(rules: Rules, path: string): Access {
  const rule = deepestRule(rules.files, path);
  const match = shallowestMatch(rules.hidden, path);
  if (match !== undefined && (rule === undefined || !isInside(rule.path, match))) {
    return 'none';
  }
  return rule?.access ?? 'none';
}

/** The rule that decides about a path, globs aside. */
export function deepestRule(files: readonly FileRule[], path: string): FileRule | undefined {
  return files
    .filter((rule) => isInside(path, rule.path))
    .reduce<FileRule | undefined>(
      (deepest, rule) => (deepest === undefined || rule.path.length > deepest.path.length ? rule : deepest),
      undefined,
    );
}

/** The first folder or file on the way to a path that a glob hides. */
function shallowestMatch(hidden: readonly HiddenGlob[], path: string): string | undefined {
  const matches = hidden.flatMap(({ folder, glob }) => {
    if (!isInside(path, folder)) {
      return [];
    }
    const isMatch = globMatcher(glob);
    const names = path.slice(folder === '/' ? 1 : folder.length + 1).split('/');
    const end = names.findIndex((name) => unsearchedFolders.has(name));
    const searched = end < 0 ? names : names.slice(0, end);
    const count = searched.findIndex((_, index) => isMatch(searched.slice(0, index + 1).join('/'))) + 1;
    return count === 0 ? [] : [[folder === '/' ? '' : folder, ...names.slice(0, count)].join('/')];
  });
  return matches.sort((a, b) => a.length - b.length)[0];
}

const matchers = new Map<string, (path: string) => boolean>();

/** Compiled once per glob. */
export function globMatcher(glob: string): (path: string) => boolean {
  const known = matchers.get(glob);
  if (known !== undefined) {
    return known;
  }
  const matcher = picomatch(glob, { dot: true, nonegate: true });
  matchers.set(glob, matcher);
  return matcher;
}
