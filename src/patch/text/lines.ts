import { diffArrays } from 'diff';
import type { LineEdit } from '../plan/plan.ts';

/** The lines of a text, each with its line end: LF, CRLF or a lone CR (reference §5). The last may have none. */
export function splitLines(text: string): string[] {
  const lines: string[] = [];
  let start = 0;
  let lineFeed = text.indexOf('\n');
  let carriageReturn = text.indexOf('\r');
  while (lineFeed !== -1 || carriageReturn !== -1) {
    const isLineFeed = carriageReturn === -1 || (lineFeed !== -1 && lineFeed < carriageReturn);
    const end = isLineFeed
      ? lineFeed + 1
      : carriageReturn + 1 === lineFeed
        ? lineFeed + 1
        : carriageReturn + 1;
    lines.push(text.slice(start, end));
    start = end;
    if (lineFeed !== -1 && lineFeed < end) {
      lineFeed = text.indexOf('\n', end);
    }
    if (carriageReturn !== -1 && carriageReturn < end) {
      carriageReturn = text.indexOf('\r', end);
    }
  }
  if (start < text.length) {
    lines.push(text.slice(start));
  }
  return lines;
}

/** The line end of a line; empty when it has none. */
export function lineEndOf(line: string): string {
  return line.endsWith('\r\n') ? '\r\n' : line.endsWith('\n') ? '\n' : line.endsWith('\r') ? '\r' : '';
}

/** The line without its line end. */
export function withoutLineEnd(line: string): string {
  const end = lineEndOf(line).length;
  return end === 0 ? line : line.slice(0, -end);
}

/** Whether edits of so many lines are in order, and neither overlap nor leave them. */
export function areInOrder(edits: readonly LineEdit[], lines: number): boolean {
  let end = 0;
  return edits.every(({ start, removed }) => {
    const isBehind = Number.isInteger(start) && Number.isInteger(removed) && start >= end && removed >= 0;
    end = start + removed;
    return isBehind && end <= lines;
  });
}

/** The lines after the edits, which are {@link areInOrder | in order}. */
export function applyEdits(lines: readonly string[], edits: readonly LineEdit[]): string[] {
  const result: string[] = [];
  let next = 0;
  for (const { start, removed, added } of edits) {
    for (; next < start; next += 1) {
      result.push(lines[next] as string);
    }
    for (const line of added) {
      result.push(line);
    }
    next = start + removed;
  }
  for (; next < lines.length; next += 1) {
    result.push(lines[next] as string);
  }
  return result;
}

/** How many differing lines are searched for the shortest description; more are described as one replacement. */
const maxEditLength = 2_000;

/**
 * A short list of edits from one text to another, in order. Its cost is bounded: what differs too much is one edit
 * from the first to the last differing line.
 */
export function editsBetween(before: readonly string[], after: readonly string[]): LineEdit[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) {
    head += 1;
  }
  let tail = 0;
  while (
    tail < before.length - head &&
    tail < after.length - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  ) {
    tail += 1;
  }
  const oldMiddle = before.slice(head, before.length - tail);
  const newMiddle = after.slice(head, after.length - tail);
  if (oldMiddle.length === 0 && newMiddle.length === 0) {
    return [];
  }
  const parts =
    oldMiddle.length === 0 || newMiddle.length === 0
      ? undefined
      : diffArrays(oldMiddle, newMiddle, { maxEditLength });
  if (parts === undefined) {
    return [{ start: head, removed: oldMiddle.length, added: newMiddle }];
  }
  const edits: { start: number; removed: number; added: string[] }[] = [];
  let line = head;
  for (const part of parts) {
    if (!part.added && !part.removed) {
      line += part.value.length;
      continue;
    }
    const last = edits.at(-1);
    const edit =
      last !== undefined && last.start + last.removed === line
        ? last
        : { start: line, removed: 0, added: [] };
    if (edit !== last) {
      edits.push(edit);
    }
    if (part.removed) {
      edit.removed += part.value.length;
      line += part.value.length;
    } else {
      edit.added.push(...part.value);
    }
  }
  return edits;
}
