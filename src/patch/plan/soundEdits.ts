import { decodeText } from '../text/decode.ts';
import { applyEdits, areInOrder, splitLines } from '../text/lines.ts';
import type { LineEdit, PlannedChange } from './plan.ts';

/** A change that somebody else has planned: without edits that do not lead from its one content to the other. */
export function withSoundEdits(change: PlannedChange): PlannedChange {
  if (!('edits' in change) || change.edits === undefined) {
    return change;
  }
  return leadsThere(change.edits, change.before.bytes, change.after)
    ? change
    : { ...change, edits: undefined };
}

function leadsThere(edits: readonly LineEdit[], before: Buffer, after: Buffer): boolean {
  const [old, changed] = [decodeText(before), decodeText(after)];
  if (!old.ok || !changed.ok) {
    return false;
  }
  const lines = splitLines(old.value.text);
  return areInOrder(edits, lines.length) && applyEdits(lines, edits).join('') === changed.value.text;
}
