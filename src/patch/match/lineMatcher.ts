import type { Comparison } from './comparisons.ts';
import { comparisons, keyUnder } from './comparisons.ts';
import type { TextLines } from '../text/textLines.ts';
import { trimStart } from '../text/whitespace.ts';
import { ExactSearch } from './exactSearch.ts';
import { LineIndex } from './lineIndex.ts';

export interface Match {
  /** Index of the first line, from 0. */
  readonly position: number;
  readonly comparison: Comparison;
}

/** Files of so many lines have an index within a millisecond or two. */
const linesIndexedAtOnce = 10_000;

/** Finds blocks of lines in a file, each comparison tried everywhere before the next looser one (reference §4). */
export class LineMatcher {
  readonly #text: TextLines;
  readonly #exact: ExactSearch;
  /** Has its own budget, because looking for further places goes on to the end of the text every time. */
  readonly #further: ExactSearch;
  readonly #indexes = new Map<Comparison, LineIndex>();
  #lines: readonly string[] | undefined;
  /** Characters that may still be looked at for parts of lines. */
  #partBudget: number;

  constructor(text: TextLines) {
    this.#text = text;
    this.#exact = new ExactSearch(text);
    this.#further = new ExactSearch(text);
    this.#partBudget = 50 * text.text.length + 10_000;
  }

  get lineCount(): number {
    return this.#text.length;
  }

  /** All lines, without their line ends. */
  get lines(): readonly string[] {
    this.#lines ??= Array.from({ length: this.#text.length }, (_, line) => this.#text.contentOf(line));
    return this.#lines;
  }

  lineAt(position: number): string {
    return this.#text.contentOf(position);
  }

  /** The first place at or after `from`. */
  find(block: readonly string[], from: number): Match | undefined {
    for (const comparison of comparisons) {
      const position = this.#find(block, from, comparison);
      if (position !== -1) {
        return { position, comparison };
      }
    }
    return undefined;
  }

  #find(block: readonly string[], from: number, comparison: Comparison): number {
    const exact = comparison === 'exact' ? this.#exact.find(block, from) : undefined;
    return exact ?? this.index(comparison).find(block, from);
  }

  findAt(block: readonly string[], position: number): Match | undefined {
    if (position < 0 || position + block.length > this.lineCount) {
      return undefined;
    }
    const comparison = comparisons.find((candidate) => {
      const keyOf = keyUnder[candidate];
      return block.every((line, index) => keyOf(line) === keyOf(this.lineAt(position + index)));
    });
    return comparison === undefined ? undefined : { position, comparison };
  }

  /**
   * The only line at or after `from` that begins with a text, white space aside, or else the only one that contains
   * it. Undefined also when the text was looked through too often: what is left are patches that name parts of lines
   * by the thousand.
   */
  findOnlyLineWith(part: string, from: number): number | undefined {
    const { text } = this.#text;
    const beginning: number[] = [];
    const containing: number[] = [];
    for (let offset = this.#text.startOf(from); beginning.length < 2;) {
      const found = text.indexOf(part, offset);
      this.#partBudget -= (found === -1 ? text.length : found) - offset + part.length;
      if (this.#partBudget < 0) {
        return undefined;
      }
      if (found === -1) {
        break;
      }
      const line = this.#text.lineAt(found);
      containing.push(line);
      if (trimStart(this.lineAt(line)).startsWith(part)) {
        beginning.push(line);
      }
      offset = this.#text.startOf(line + 1);
    }
    const candidates = beginning.length > 0 ? beginning : containing;
    return candidates.length === 1 ? candidates[0] : undefined;
  }

  /** The only place in the whole file by the strictest comparison that has any; undefined when there are several. */
  findUnique(block: readonly string[]): Match | undefined {
    const match = this.find(block, 0);
    const isUnique = match !== undefined && this.#find(block, match.position + 1, match.comparison) === -1;
    return isUnique ? match : undefined;
  }

  /**
   * Up to `limit` later places that match as well as this one. In a long file without an index they are looked for
   * after the first blocks only: making one would cost more than all the rest of planning.
   */
  furtherPlaces(block: readonly string[], { position, comparison }: Match, limit: number): number[] {
    const isIndexed = this.#indexes.has(comparison) || this.lineCount <= linesIndexedAtOnce;
    const places: number[] = [];
    for (let from = position + 1; places.length < limit;) {
      const place = isIndexed
        ? this.index(comparison).find(block, from)
        : (this.#further.find(block, from) ?? -1);
      if (place === -1) {
        break;
      }
      places.push(place);
      from = place + 1;
    }
    return places;
  }

  /** The index for one comparison, made when it is first needed. */
  index(comparison: Comparison): LineIndex {
    let index = this.#indexes.get(comparison);
    if (index === undefined) {
      index = new LineIndex(this.lines, keyUnder[comparison]);
      this.#indexes.set(comparison, index);
    }
    return index;
  }
}
