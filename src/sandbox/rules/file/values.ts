import { RuleSyntaxError } from './problem.ts';
import type { Offset } from './problem.ts';

/** What the language of rules computes with. */
export type Value =
  | { readonly kind: 'string'; readonly value: string; readonly at: Offset }
  | { readonly kind: 'list'; readonly items: readonly Value[]; readonly at: Offset };

/** A workspace may write rules: a line that doubles itself must end somewhere. */
const maxLength = 64 * 1024;

/** Two strings or two lists, one after the other; throws a {@link RuleSyntaxError} for anything else. */
export function concatenate(left: Value, right: Value): Value {
  const { at } = left;
  if (left.kind === 'string' && right.kind === 'string') {
    return { kind: 'string', value: bounded(left.value + right.value, at), at };
  }
  if (left.kind === 'list' && right.kind === 'list') {
    return { kind: 'list', items: bounded([...left.items, ...right.items], at), at };
  }
  throw new RuleSyntaxError(right.at, `a ${right.kind} after a ${left.kind}`, `a ${left.kind}`);
}

function bounded<T extends { readonly length: number }>(value: T, at: Offset): T {
  if (value.length > maxLength) {
    throw new RuleSyntaxError(
      at,
      `a value of ${value.length} characters or elements`,
      `at most ${maxLength}`,
    );
  }
  return value;
}

/** As it would be written, shortened. */
export function describeValue(value: Value): string {
  const text = value.kind === 'string' ? JSON.stringify(value.value) : `a list of ${value.items.length}`;
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
