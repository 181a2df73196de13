import type { RuleSet } from '../../sandbox/rules/rule.ts';

/** A root's rules, and those that a person added with a yes: commands that begin so run, in the sandbox. */
export function withGrantedPrefixes(rules: RuleSet, prefixes: readonly (readonly string[])[]): RuleSet {
  return {
    ...rules,
    prefixes: [
      ...rules.prefixes,
      ...prefixes.map((words) => ({
        pattern: words.map((word) => [word]),
        decision: 'allow' as const,
        runs: 'inside' as const,
        origin: { source: 'grant' as const, place: 'a grant of yours' },
      })),
    ],
  };
}
