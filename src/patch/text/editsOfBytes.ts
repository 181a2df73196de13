import type { LineEdit } from '../plan/plan.ts';
import { decodeText } from './decode.ts';
import { editsBetween, splitLines } from './lines.ts';

/** The edits between two contents; undefined when one of them is not text, or not in the other's encoding. */
export function editsOfBytes(before: Buffer, after: Buffer): LineEdit[] | undefined {
  const old = decodeText(before);
  const changed = decodeText(after);
  if (!old.ok || !changed.ok) {
    return undefined;
  }
  const isSameKind =
    old.value.encoding === changed.value.encoding &&
    old.value.hasByteOrderMark === changed.value.hasByteOrderMark;
  return isSameKind ? editsBetween(splitLines(old.value.text), splitLines(changed.value.text)) : undefined;
}
