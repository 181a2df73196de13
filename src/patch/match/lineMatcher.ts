import type { Comparison } from './comparisons.ts';
import { comparisons, keyUnder } from './comparisons.ts';
import type { TextLines } from '../text/textLines.ts';
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

  constructor(text: TextLines) {
    this.#text = text;
    this.#exact = new ExactSearch(text);
    this.#further = new ExactSearch(text);
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
    const standing = block.map((_, index) => this.lineAt(position + index));
    const comparison = comparisons.find((candidate) => {
      const keyOf = keyUnder[candidate];
      return block.every((line, index) => keyOf(line) === keyOf(standing[index] as string));
    });
    return comparison === undefined ? undefined : { position, comparison };
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
