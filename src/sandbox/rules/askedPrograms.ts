import type { PrefixRule, RuleSet } from './rule.ts';

/** More names than any set of rules needs, and few enough for every sandbox. */
const mostPrograms = 200;

/**
 * The programs that have to be asked about one by one, also inside of scripts: those that a rule asks about, forbids,
 * or lets out of the sandbox. Rules that name a path speak of what no search path finds.
 */
export function askedPrograms({ prefixes }: Pick<RuleSet, 'prefixes'>): readonly string[] {
  return namesIn(prefixes.filter(({ decision, runs }) => decision !== 'allow' || runs === 'outside'));
}

/** Those of them that must not run unasked, not even in the sandbox. */
export function restrictedPrograms({ prefixes }: Pick<RuleSet, 'prefixes'>): readonly string[] {
  return namesIn(prefixes.filter(({ decision }) => decision !== 'allow'));
}

function namesIn(prefixes: readonly PrefixRule[]): readonly string[] {
  const names = prefixes.flatMap(({ pattern }) => pattern[0] ?? []);
  return [...new Set(names)].filter(isName).slice(0, mostPrograms);
}

function isName(word: string): boolean {
  return /^[^/\s\0]{1,100}$/.test(word) && word !== '.' && word !== '..';
}
