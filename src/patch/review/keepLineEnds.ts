import { editsBetween, lineEndOf, splitLines, withoutLineEnd } from '../text/lines.ts';

/**
 * The lines of a text that an editor gave back. Editors make mixed line ends uniform; lines that were not edited get
 * their own back, new ones that of the line above.
 */
export function keepLineEnds(current: readonly string[], edited: string): readonly string[] {
  const lines = splitLines(edited);
  const ends = new Set(current.map(lineEndOf).filter((end) => end !== ''));
  if (ends.size < 2) {
    return lines;
  }
  const result: string[] = [];
  let from = 0;
  const keepUntil = (end: number): void => {
    for (; from < end; from += 1) {
      const line = current[from] as string;
      const given = lines[result.length] as string;
      const isSameKind = (lineEndOf(line) === '') === (lineEndOf(given) === '');
      result.push(isSameKind ? line : withEnd(given));
    }
  };
  const withEnd = (line: string): string => {
    const above = lineEndOf(result.at(-1) ?? '') || lineEndOf(current[0] ?? '');
    return lineEndOf(line) === '' || above === '' ? line : withoutLineEnd(line) + above;
  };
  for (const edit of editsBetween(current.map(withoutLineEnd), lines.map(withoutLineEnd))) {
    keepUntil(edit.start);
    for (let count = edit.added.length; count > 0; count -= 1) {
      result.push(withEnd(lines[result.length] as string));
    }
    from = edit.start + edit.removed;
  }
  keepUntil(current.length);
  return result;
}
