import { trim } from '../text/whitespace.ts';
import type { LineMatcher } from './lineMatcher.ts';

/** Lines around the nearest place that are shown. */
const linesShown = 12;
/** Occurrences of a line that vote: more say nothing about the place. */
const maxVotes = 100;
/** Lines compared word by word when no line of the block is in the file. */
const maxLinesCompared = 50_000;

/**
 * What a model needs to repair a block that was not found: the nearest lines of the file with their numbers (from 1),
 * and which of them differ from what the patch says. Empty when nothing comes near.
 */
export function describeNearest(wanted: readonly string[], from: number, matcher: LineMatcher): string {
  const start = nearestByEqualLines(wanted, from, matcher) ?? nearestByWords(wanted, matcher.lines);
  if (start === undefined) {
    return '';
  }
  const first = Math.max(0, start);
  const end = Math.min(matcher.lineCount, start + wanted.length, first + linesShown);
  const width = String(end).length;
  const shown: string[] = [];
  for (let position = first; position < end; position += 1) {
    const line = matcher.lineAt(position);
    const said = wanted[position - start] as string;
    const isEqual = matcher.findAt([said], position) !== undefined;
    shown.push(
      `${String(position + 1).padStart(width)} | ${line}${isEqual ? '' : `    <- the patch has: ${said}`}`,
    );
  }
  return `The nearest lines of the file are:\n${shown.join('\n')}`;
}

/** Each line of the block that is in the file votes for where the block would begin. */
function nearestByEqualLines(
  wanted: readonly string[],
  from: number,
  matcher: LineMatcher,
): number | undefined {
  const votes = new Map<number, number>();
  for (const [offset, line] of wanted.entries()) {
    if (trim(line) === '') {
      continue;
    }
    for (const position of matcher.index('typography').positionsOf(line).subarray(0, maxVotes)) {
      votes.set(position - offset, (votes.get(position - offset) ?? 0) + 1);
    }
  }
  let best: { start: number; count: number } | undefined;
  for (const [start, count] of votes) {
    const isNearer = best !== undefined && Math.abs(start - from) < Math.abs(best.start - from);
    if (best === undefined || count > best.count || (count === best.count && isNearer)) {
      best = { start, count };
    }
  }
  return best?.start;
}

/** The place of the line that shares most words with the block's longest line. */
function nearestByWords(wanted: readonly string[], lines: readonly string[]): number | undefined {
  const offset = wanted.reduce(
    (longest, line, index) => (line.length > (wanted[longest] as string).length ? index : longest),
    0,
  );
  const words = new Set(wordsOf(wanted[offset] ?? ''));
  let best: { position: number; share: number } | undefined;
  for (let position = 0; position < Math.min(lines.length, maxLinesCompared); position += 1) {
    const others = wordsOf(lines[position] as string);
    const shared = others.filter((word) => words.has(word)).length;
    const share = (2 * shared) / (words.size + others.length);
    if (share >= 0.5 && share > (best?.share ?? 0)) {
      best = { position, share };
    }
  }
  return best === undefined ? undefined : best.position - offset;
}

function wordsOf(line: string): string[] {
  return line.match(/[\p{L}\p{N}_]+/gu) ?? [];
}
