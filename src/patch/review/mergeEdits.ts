import type { LineEdit } from '../plan/plan.ts';
import { applyEdits, editsBetween } from '../text/lines.ts';
import { sameLines } from './pieces.ts';

/**
 * What comes of `base` when both sides' edits are made. Undefined when both changed the same lines or neighbours, each
 * in its own way. Takes time in proportion to the texts.
 */
export function mergeEdits(
  ours: readonly string[],
  base: readonly string[],
  theirs: readonly string[],
): readonly string[] | undefined {
  const mine = editsBetween(base, ours);
  const others = editsBetween(base, theirs);
  const merged: LineEdit[] = [];
  while (mine.length > 0 || others.length > 0) {
    const [a] = mine;
    const [b] = others;
    if (a !== undefined && b !== undefined && touch(a, b)) {
      if (a.start !== b.start || a.removed !== b.removed || !sameLines(a.added, b.added)) {
        return undefined;
      }
      mine.shift();
    }
    const next = b === undefined || (a !== undefined && a.start < b.start) ? mine.shift() : others.shift();
    if (next !== undefined) {
      merged.push(next);
    }
  }
  return applyEdits(base, merged);
}

function touch(a: LineEdit, b: LineEdit): boolean {
  return a.start <= b.start + b.removed && b.start <= a.start + a.removed;
}
