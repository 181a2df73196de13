import type { TextLines } from '../text/textLines.ts';

/**
 * Finds blocks of lines that equal the file's by searching its text for the block's longest line: the cheapest way for
 * ordinary patches, which need no index of the file. It gives up for good when it has looked at the text several
 * times, because only an index keeps the cost in proportion to the file then.
 */
export class ExactSearch {
  readonly #lines: TextLines;
  /** Characters that may still be looked at. */
  #budget: number;

  constructor(lines: TextLines) {
    this.#lines = lines;
    this.#budget = 6 * lines.text.length + 10_000;
  }

  /** The first position at or after `from`, -1 when there is none; undefined when an index has to tell. */
  find(block: readonly string[], from: number): number | undefined {
    const anchor = longestOf(block);
    const needle = block[anchor] as string;
    if (needle === '' || this.#budget <= 0) {
      return undefined;
    }
    if (from + block.length > this.#lines.length) {
      return -1;
    }
    const { text } = this.#lines;
    for (let offset = this.#lines.startOf(from + anchor); ; offset += 1) {
      const found = text.indexOf(needle, offset);
      this.#budget -= (found === -1 ? text.length : found) - offset + needle.length;
      if (found === -1) {
        return -1;
      }
      const start = this.#lines.lineAt(found) - anchor;
      if (this.#isAt(block, start)) {
        return start;
      }
      if (this.#budget <= 0) {
        return undefined;
      }
      offset = found;
    }
  }

  #isAt(block: readonly string[], start: number): boolean {
    if (start + block.length > this.#lines.length) {
      return false;
    }
    return block.every((line, index) => {
      const begin = this.#lines.startOf(start + index);
      this.#budget -= line.length + 1;
      return (
        this.#lines.contentEndOf(start + index) - begin === line.length &&
        this.#lines.text.startsWith(line, begin)
      );
    });
  }
}

function longestOf(block: readonly string[]): number {
  return block.reduce(
    (longest, line, index) => (line.length > (block[longest] as string).length ? index : longest),
    0,
  );
}
