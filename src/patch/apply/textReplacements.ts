import type { LineEdit } from '../plan/plan.ts';
import { applyEdits, editsBetween, splitLines } from '../text/lines.ts';

/** Replaces the text between two places; lines and columns are counted from 0, in UTF-16 units. */
export interface TextReplacement {
  readonly start: TextPlace;
  readonly end: TextPlace;
  readonly text: string;
}

export interface TextPlace {
  readonly line: number;
  readonly character: number;
}

/**
 * The smallest whole-line replacements that turn one text into another, so that cursors and folds elsewhere stay.
 * `edits` are used when they lead there, as those of a plan do; otherwise the texts are compared.
 */
export function textReplacements(
  before: string,
  after: string,
  edits: readonly LineEdit[] | undefined,
): readonly TextReplacement[] {
  const lines = splitLines(before);
  const leadsThere = edits !== undefined && applyEdits(lines, edits).join('') === after;
  const chosen = leadsThere ? edits : editsBetween(lines, splitLines(after));
  return chosen.map(({ start, removed, added }) => ({
    start: placeOfLine(lines, start),
    end: placeOfLine(lines, start + removed),
    text: added.join(''),
  }));
}

/** Where a line begins. There is none after a last line without a line end: then the place is behind its text. */
function placeOfLine(lines: readonly string[], line: number): TextPlace {
  const last = lines.at(-1);
  return line < lines.length || last === undefined || /[\r\n]$/.test(last)
    ? { line, character: 0 }
    : { line: lines.length - 1, character: last.length };
}
