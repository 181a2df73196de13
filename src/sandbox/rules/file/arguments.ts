import { ruleDecisions } from '../rule.ts';
import type { RuleDecision } from '../rule.ts';
import { splitLine } from '../splitLine.ts';
import { RuleSyntaxError } from './problem.ts';
import type { Offset } from './problem.ts';
import type { Call } from './statements.ts';
import { describeValue } from './values.ts';
import type { Value } from './values.ts';

/** The arguments of a call by the names of the parameters; throws a {@link RuleSyntaxError} when they do not fit. */
export function bindArguments(
  call: Call,
  parameters: readonly string[],
  required: number,
): ReadonlyMap<string, Value> {
  const surplus = call.positional[parameters.length];
  if (surplus !== undefined) {
    throw new RuleSyntaxError(surplus.at, describeValue(surplus), `at most ${parameters.length} arguments`);
  }
  const bound = new Map(call.positional.map((value, index) => [parameters[index] ?? '', value]));
  for (const [name, { value, at }] of call.named) {
    if (!parameters.includes(name)) {
      throw new RuleSyntaxError(at, `the argument ${name}`, `one of ${parameters.join(', ')}`);
    }
    if (bound.has(name)) {
      throw new RuleSyntaxError(at, `${name} once more`, 'each argument once');
    }
    bound.set(name, value);
  }
  const missing = parameters.slice(0, required).find((name) => !bound.has(name));
  if (missing !== undefined) {
    throw new RuleSyntaxError(call.at, `${call.function} without ${missing}`, `${missing} = …`);
  }
  return bound;
}

export function readText(value: Value): string {
  if (value.kind !== 'string') {
    throw new RuleSyntaxError(value.at, describeValue(value), 'a string');
  }
  return value.value;
}

export function readTexts(value: Value): readonly string[] {
  return readItems(value, 'a list of strings').map(readText);
}

/** A reason that people read; a blank one is none. */
export function readJustification(value: Value | undefined): { readonly justification?: string } {
  if (value === undefined) {
    return {};
  }
  const justification = readText(value);
  if (justification.trim() === '') {
    throw new RuleSyntaxError(value.at, describeValue(value), 'a reason, or no justification at all');
  }
  return { justification };
}

export function readDecision(
  value: Value,
  others: Readonly<Record<string, RuleDecision>> = {},
): RuleDecision {
  const text = readText(value);
  const decision = ruleDecisions.find((one) => one === text) ?? others[text];
  if (decision === undefined) {
    const known = [...ruleDecisions, ...Object.keys(others)].map((word) => JSON.stringify(word));
    throw new RuleSyntaxError(value.at, describeValue(value), `one of ${known.join(', ')}`);
  }
  return decision;
}

/** Words, each one or a list of alternatives. */
export function readPattern(value: Value): readonly (readonly string[])[] {
  const items = readItems(value, 'a list of strings and lists of strings');
  return filled(items, value.at, 'a pattern without words').map((item) =>
    item.kind === 'string' ? [item.value] : filled(readTexts(item), item.at, 'a list without alternatives'),
  );
}

/** Commands, each as a line or as its words. */
export function readExamples(value: Value | undefined): readonly Example[] {
  return value === undefined
    ? []
    : readItems(value, 'a list of command lines').map((item) => ({ words: exampleWords(item), at: item.at }));
}

export interface Example {
  readonly words: readonly string[];
  readonly at: Offset;
}

function exampleWords(item: Value): readonly string[] {
  const words = item.kind === 'string' ? splitLine(item.value) : readTexts(item);
  if (words === undefined) {
    throw new RuleSyntaxError(item.at, describeValue(item), 'a command line in which each quote ends');
  }
  return filled(words, item.at, 'an example without words');
}

function readItems(value: Value, expected: string): readonly Value[] {
  if (value.kind !== 'list') {
    throw new RuleSyntaxError(value.at, describeValue(value), expected);
  }
  return value.items;
}

function filled<T>(items: readonly T[], at: Offset, found: string): readonly T[] {
  if (items.length === 0) {
    throw new RuleSyntaxError(at, found, 'at least one');
  }
  return items;
}
