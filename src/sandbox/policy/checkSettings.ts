import type * as z from 'zod';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import type { PolicyProblem } from './input.ts';
import type { PolicySource } from './policy.ts';

/** Whose settings they are, and how messages name them. */
export interface Owner {
  readonly source: PolicySource;
  /** As in "is 3 in the user settings". */
  readonly words: string;
  /** What stands in front of the name of a field. */
  readonly prefix: string;
}

/** The value in the shape that the schema wants, or the first thing that is wrong with it. */
export function checkSettings<T>(
  schema: z.ZodType<T>,
  value: unknown,
  owner: Owner,
): Result<T, PolicyProblem> {
  const parsed = schema.safeParse(value === undefined ? {} : value);
  const issue = parsed.error?.issues[0];
  if (parsed.success || issue === undefined) {
    return ok(parsed.data as T);
  }
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    const names = quotedList(issue.keys);
    return fail(problemWith(owner, path, { [issue.keys[0] ?? '']: '…' }, `without the unknown ${names}`));
  }
  return fail(problemWith(owner, path, valueAt(value, issue.path), wanted(issue)));
}

/** A problem with one field: what it is, whose it is, and what it must be. */
export function problemWith(
  { source, words, prefix }: Owner,
  path: readonly string[],
  value: unknown,
  expected: string,
): PolicyProblem {
  // Elements of a list are told by their value.
  const field = [prefix, ...path.filter((part) => !/^\d+$/.test(part))].join('.');
  return {
    field,
    message: `${field} is ${JSON.stringify(value)} in ${words}, but must be ${expected}.`,
    hint: `Correct ${field} in ${words}. Nothing runs in this root until then.`,
    source,
  };
}

export function quotedList(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(', ');
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, part) => (inner as Readonly<Record<PropertyKey, unknown>> | undefined)?.[part],
    value,
  );
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'a text',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  boolean: 'true or false',
  number: 'a whole number',
  int: 'a whole number',
};

function wanted(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_value') {
    return `one of ${quotedList(issue.values.map(String))}`;
  }
  if (issue.code === 'invalid_type') {
    return typeWords[issue.expected] ?? issue.expected;
  }
  return issue.code === 'too_small' ? 'greater than 0' : `something else (${issue.message})`;
}
