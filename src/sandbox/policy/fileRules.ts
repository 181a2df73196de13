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

/** The part of a policy that decides about single paths. */
export interface FileRules {
  readonly files: readonly FileRule[];
  readonly hidden: readonly HiddenGlob[];
}

/** What the rules say about a canonical path, and which of them says it: none does where everything is hidden. */
export interface Decision {
  readonly access: Access;
  readonly by?: FileRule | HiddenGlob;
}

/** The access that the rules give to a canonical path, before the protection of metadata. */
export function accessTo(rules: FileRules, path: string): Access {
  return decisionOn(rules, path).access;
}

/** The access together with what decided: each glob counts as a rule at its first match on the way to the path. */
export function decisionOn(rules: FileRules, path: string): Decision {
  const rule = deepestRule(rules.files, path);
  const glob = rules.hidden.find((candidate) => {
    const match = firstMatch(candidate, path);
    return match !== undefined && (rule === undefined || !isInside(rule.path, match));
  });
  if (glob !== undefined) {
    return { access: 'none', by: glob };
  }
  return rule === undefined ? { access: 'none' } : { access: rule.access, by: rule };
}

/** The rule that decides about a path, globs aside. */
export function deepestRule(files: readonly FileRule[], path: string): FileRule | undefined {
  let deepest: FileRule | undefined;
  for (const rule of files) {
    const isDeeper = deepest === undefined || rule.path.length > deepest.path.length;
    if (isDeeper && isInside(path, rule.path)) {
      deepest = rule;
    }
  }
  return deepest;
}

/** The first folder or file on the way to a path that a glob hides. */
function firstMatch({ folder, glob }: HiddenGlob, path: string): string | undefined {
  if (!isInside(path, folder)) {
    return undefined;
  }
  const isMatch = globMatcher(glob);
  const names = path.slice(folder === '/' ? 1 : folder.length + 1).split('/');
  const end = names.findIndex((name) => unsearchedFolders.has(name));
  const searched = end < 0 ? names : names.slice(0, end);
  const count = searched.findIndex((_, index) => isMatch(searched.slice(0, index + 1).join('/'))) + 1;
  return count === 0 ? undefined : [folder === '/' ? '' : folder, ...names.slice(0, count)].join('/');
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
