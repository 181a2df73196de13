import * as z from 'zod';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import { meetsExample, wrongExample } from './examples.ts';
import { noRules, ruleDecisions } from './rule.ts';
import type { PrefixRule, RuleProblem, RuleSet, RuleSource } from './rule.ts';
import { splitLine } from './splitLine.ts';

export const ruleSetting = 'cordon.rules.commands';

const words = z.array(z.string()).min(1);
const examples = z.array(z.union([z.string(), words]));

/** The setting `cordon.rules.commands`: a list of what `prefix_rule` says in files. */
export const ruleSettingsSchema = z.array(
  z.strictObject({
    pattern: z.array(z.union([z.string(), words])).min(1),
    decision: z.enum(ruleDecisions),
    /** Where a command runs that the rule allows; `inside` when absent. */
    sandbox: z.enum(['inside', 'outside']).optional(),
    justification: z.string().regex(/\S/).optional(),
    match: examples.optional(),
    notMatch: examples.optional(),
  }),
);

type RuleSetting = z.infer<typeof ruleSettingsSchema>[number];

/** Whose value of the setting it is; `words` as in "in the user settings". */
export interface SettingOwner {
  readonly source: RuleSource;
  readonly words: string;
}

/** The rules in a value of the setting, undefined for none; it is taken as a whole or not at all. */
export function readRuleSettings(value: unknown, owner: SettingOwner): Result<RuleSet, RuleProblem> {
  const parsed = ruleSettingsSchema.safeParse(value ?? []);
  const issue = parsed.error?.issues[0];
  if (issue !== undefined) {
    return fail(problem(owner, issue.path, valueAt(value, issue.path), wanted(issue)));
  }
  const settings = parsed.data ?? [];
  const prefixes = settings.map((setting, index) => asRule(setting, index, owner));
  const wrong = settings.flatMap((setting, index) => exampleProblems(setting, index, prefixes, owner)).at(0);
  return wrong === undefined ? ok({ ...noRules, prefixes }) : fail(wrong);
}

function asRule(setting: RuleSetting, index: number, { source, words: owner }: SettingOwner): PrefixRule {
  return {
    pattern: setting.pattern.map((one) => (typeof one === 'string' ? [one] : one)),
    decision: setting.decision,
    runs: setting.sandbox ?? 'inside',
    ...(setting.justification !== undefined && { justification: setting.justification }),
    origin: { source, place: `${ruleSetting}[${index}] in ${owner}` },
  };
}

function exampleProblems(
  { match = [], notMatch = [] }: RuleSetting,
  index: number,
  prefixes: readonly PrefixRule[],
  owner: SettingOwner,
): readonly RuleProblem[] {
  const rule = prefixes[index] as PrefixRule;
  const rules = { ...noRules, prefixes };
  const check = (list: typeof match, field: string, shouldMeet: boolean): readonly RuleProblem[] =>
    list.flatMap((example, at) => {
      const path = [index, field, at];
      const split = typeof example === 'string' ? splitLine(example) : example;
      if (split === undefined || split.length === 0) {
        return [problem(owner, path, example, 'a command line with a command, in which each quote ends')];
      }
      if (meetsExample(split, rule.pattern, noRules.hostExecutables) === shouldMeet) {
        return [];
      }
      const { found, expected } = wrongExample(split, rule, { shouldMeet, rules });
      return [asProblem(owner, path, `is ${found}`, expected)];
    });
  return [...check(match, 'match', true), ...check(notMatch, 'notMatch', false)];
}

function problem(
  owner: SettingOwner,
  path: readonly PropertyKey[],
  value: unknown,
  expected: string,
): RuleProblem {
  return asProblem(owner, path, `is ${JSON.stringify(value) ?? 'absent'}`, expected);
}

function asProblem(
  { source, words: owner }: SettingOwner,
  path: readonly PropertyKey[],
  found: string,
  expected: string,
): RuleProblem {
  const place = path.reduce<string>(
    (text, part) => text + (typeof part === 'number' ? `[${part}]` : `.${String(part)}`),
    ruleSetting,
  );
  return { source, place, message: `${place} ${found} in ${owner}, but must be ${expected}.` };
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, part) => (inner as Readonly<Record<PropertyKey, unknown>> | undefined)?.[part],
    value,
  );
}

const types: Readonly<Record<string, string>> = { string: 'a text', array: 'a list', object: 'an object' };

function wanted(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_value') {
    return `one of ${quoted(issue.values)}`;
  }
  if (issue.code === 'invalid_type') {
    return types[issue.expected] ?? issue.expected;
  }
  if (issue.code === 'unrecognized_keys') {
    return `without the unknown ${quoted(issue.keys)}`;
  }
  if (issue.code === 'invalid_union') {
    return 'a text or a list of texts with at least one';
  }
  return issue.code === 'too_small' ? 'a list with at least one element' : 'a text that is not blank';
}

function quoted(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(', ');
}
