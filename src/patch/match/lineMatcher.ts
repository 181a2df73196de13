import type { Comparison } from './comparisons.ts';
import { comparisons, keyUnder } from './comparisons.ts';
import { LineIndex } from './lineIndex.ts';

export interface Match {
  /** Index of the first line, from 0. */
  readonly position: number;
  readonly comparison: Comparison;
}

/** Finds blocks of lines in a file, each comparison tried everywhere before the next looser one (reference §4). */
export class LineMatcher {
  readonly #lines: readonly string[];
  readonly #indexes = new Map<Comparison, LineIndex>();

  /** Lines without their line ends. */
  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** The first place at or after `from`. */
  find(block: readonly string[], from: number): Match | undefined {
    for (const comparison of comparisons) {
      const position = this.index(comparison).find(block, from);
      if (position !== -1) {
        return { position, comparison };
      }
    }
    return undefined;
  }

  findAt(block: readonly string[], position: number): Match | undefined {
    const comparison = comparisons.find((candidate) => this.index(candidate).isAt(block, position));
    return comparison === undefined ? undefined : { position, comparison };
  }

  /** The only place in the whole file by the strictest comparison that has any; undefined when there are several. */
  findUnique(block: readonly string[]): Match | undefined {
    const match = this.find(block, 0);
    return match !== undefined && this.furtherPlaces(block, match, 1).length === 0 ? match : undefined;
  }

  /** Up to `limit` later places that match as well as this one. */
  furtherPlaces(block: readonly string[], { position, comparison }: Match, limit: number): number[] {
    const places: number[] = [];
    for (let from = position + 1; places.length < limit;) {
      const place = this.index(comparison).find(block, from);
      if (place === -1) {
        break;
      }
      places.push(place);
      from = place + 1;
    }
    return places;
  }

  index(comparison: Comparison): LineIndex {
    let index = this.#indexes.get(comparison);
    if (index === undefined) {
      index = new LineIndex(this.#lines, keyUnder[comparison]);
      this.#indexes.set(comparison, index);
    }
    return index;
  }
}
