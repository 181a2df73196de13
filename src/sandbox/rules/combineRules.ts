import type { RuleSet } from './rule.ts';

/** Who has a say about the commands in one root, besides the person's grants. */
export interface RuleLayers {
  readonly managed: RuleSet;
  readonly user: RuleSet;
  /** Files in the root: they can only narrow. */
  readonly workspace: RuleSet;
}

/** One set of rules of all that have a say; the strictest that matches decides, so no order is needed. */
export function combineRules({ managed, user, workspace }: RuleLayers): RuleSet {
  const narrowing = {
    prefixes: workspace.prefixes.filter(({ decision }) => decision !== 'allow'),
    networks: workspace.networks.filter(({ decision }) => decision !== 'allow'),
  };
  return {
    prefixes: [...managed.prefixes, ...user.prefixes, ...narrowing.prefixes],
    networks: [...managed.networks, ...user.networks, ...narrowing.networks],
    // To say what is git is to allow it. What the administrator says about a program stands.
    hostExecutables: new Map([...user.hostExecutables, ...managed.hostExecutables]),
    problems: [...managed.problems, ...user.problems, ...workspace.problems],
  };
}
