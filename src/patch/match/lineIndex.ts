/**
 * Where which line occurs, by one way of comparing. Finding a block costs time in proportion to the file at most,
 * however often its lines repeat: candidates come from the block's rarest line, and when they are too many the search
 * is Knuth-Morris-Pratt's.
 */
export class LineIndex {
  readonly #keyOf: (line: string) => string;
  readonly #idOfKey = new Map<string, number>();
  /** The id of each line. */
  readonly #ids: Int32Array;
  /** The positions of all lines, grouped by id. */
  readonly #positions: Int32Array;
  /** Where the group of an id begins in `#positions`. */
  readonly #groupStarts: Int32Array;

  constructor(lines: readonly string[], keyOf: (line: string) => string) {
    this.#keyOf = keyOf;
    this.#ids = new Int32Array(lines.length);
    const counts: number[] = [];
    for (let position = 0; position < lines.length; position += 1) {
      const key = keyOf(lines[position] as string);
      let id = this.#idOfKey.get(key);
      if (id === undefined) {
        id = counts.length;
        this.#idOfKey.set(key, id);
        counts.push(0);
      }
      counts[id] = (counts[id] as number) + 1;
      this.#ids[position] = id;
    }
    this.#groupStarts = new Int32Array(counts.length + 1);
    for (let id = 0; id < counts.length; id += 1) {
      this.#groupStarts[id + 1] = (this.#groupStarts[id] as number) + (counts[id] as number);
    }
    const next = this.#groupStarts.slice();
    this.#positions = new Int32Array(lines.length);
    for (let position = 0; position < lines.length; position += 1) {
      const id = this.#ids[position] as number;
      this.#positions[next[id] as number] = position;
      next[id] = (next[id] as number) + 1;
    }
  }

  /** The first position at or after `from` where the whole block stands; -1 when there is none. Blocks are not empty. */
  find(block: readonly string[], from: number): number {
    const ids = this.#idsOf(block);
    if (ids === undefined) {
      return -1;
    }
    let rarest = 0;
    for (let index = 1; index < ids.length; index += 1) {
      if (this.#count(ids[index] as number) < this.#count(ids[rarest] as number)) {
        rarest = index;
      }
    }
    const id = ids[rarest] as number;
    const end = this.#groupStarts[id + 1] as number;
    let steps = 4 * (this.#ids.length + block.length);
    for (let index = this.#firstAtOrAfter(id, from + rarest); index < end; index += 1) {
      const start = (this.#positions[index] as number) - rarest;
      const matching = this.#matchingPrefix(ids, start);
      if (matching === ids.length) {
        return start;
      }
      steps -= matching + 1;
      if (steps < 0) {
        return this.#findLinearly(ids, start + 1);
      }
    }
    return -1;
  }

  /** The positions of one line, ascending. */
  positionsOf(line: string): Int32Array {
    const id = this.#idOfKey.get(this.#keyOf(line));
    return id === undefined
      ? new Int32Array(0)
      : this.#positions.subarray(this.#groupStarts[id], this.#groupStarts[id + 1]);
  }

  /** Undefined when one of the lines occurs nowhere. */
  #idsOf(block: readonly string[]): Int32Array | undefined {
    const ids = new Int32Array(block.length);
    for (let index = 0; index < block.length; index += 1) {
      const id = this.#idOfKey.get(this.#keyOf(block[index] as string));
      if (id === undefined) {
        return undefined;
      }
      ids[index] = id;
    }
    return ids;
  }

  #count(id: number): number {
    return (this.#groupStarts[id + 1] as number) - (this.#groupStarts[id] as number);
  }

  #firstAtOrAfter(id: number, position: number): number {
    let low = this.#groupStarts[id] as number;
    let high = this.#groupStarts[id + 1] as number;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#positions[middle] as number) < position) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  #matchingPrefix(ids: Int32Array, start: number): number {
    if (start + ids.length > this.#ids.length) {
      return 0;
    }
    let length = 0;
    while (length < ids.length && this.#ids[start + length] === ids[length]) {
      length += 1;
    }
    return length;
  }

  #findLinearly(ids: Int32Array, from: number): number {
    const fallback = new Int32Array(ids.length);
    for (let index = 1, length = 0; index < ids.length;) {
      if (ids[index] === ids[length]) {
        length += 1;
        fallback[index] = length;
        index += 1;
      } else if (length > 0) {
        length = fallback[length - 1] as number;
      } else {
        index += 1;
      }
    }
    for (let position = from, length = 0; position < this.#ids.length; position += 1) {
      while (length > 0 && this.#ids[position] !== ids[length]) {
        length = fallback[length - 1] as number;
      }
      if (this.#ids[position] === ids[length]) {
        length += 1;
      }
      if (length === ids.length) {
        return position - length + 1;
      }
    }
    return -1;
  }
}
