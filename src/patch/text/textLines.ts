import type { LineEdit } from '../plan/plan.ts';

const lineFeed = 10;
const carriageReturn = 13;

/** A text seen as lines, each ending in LF, CRLF or a lone CR; lines are only cut out when somebody looks at them. */
export class TextLines {
  readonly text: string;
  /** Where each line begins, and behind the last line where the text ends. */
  readonly #starts: Uint32Array;

  constructor(text: string) {
    this.text = text;
    this.#starts = lineStarts(text);
  }

  get length(): number {
    return this.#starts.length - 1;
  }

  /** Offset of the first character of a line, or of the end of the text. */
  startOf(line: number): number {
    return this.#starts[line] as number;
  }

  /** Offset of the line end, or of the end of the text. */
  contentEndOf(line: number): number {
    const start = this.startOf(line);
    let end = this.startOf(line + 1);
    if (end > start && this.text.charCodeAt(end - 1) === lineFeed) {
      end -= 1;
    }
    // A CR right before that LF, or alone.
    return end > start && this.text.charCodeAt(end - 1) === carriageReturn ? end - 1 : end;
  }

  /** Without the line end. */
  contentOf(line: number): string {
    return this.text.slice(this.startOf(line), this.contentEndOf(line));
  }

  /** Empty for a last line without one, and for a line that does not exist. */
  lineEndOf(line: number): string {
    return line < 0 || line >= this.length
      ? ''
      : this.text.slice(this.contentEndOf(line), this.startOf(line + 1));
  }

  /** The line that holds the character at an offset. */
  lineAt(offset: number): number {
    let low = 0;
    let high = this.length;
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if (this.startOf(middle) <= offset) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** The text after edits, which are in order and do not overlap. */
  withEdits(edits: readonly LineEdit[]): string {
    const pieces: string[] = [];
    let next = 0;
    for (const { start, removed, added } of edits) {
      pieces.push(this.text.slice(this.startOf(next), this.startOf(start)), ...added);
      next = start + removed;
    }
    pieces.push(this.text.slice(this.startOf(next)));
    return pieces.join('');
  }
}

function lineStarts(text: string): Uint32Array {
  const starts = new GrowingArray(text.length >> 4);
  starts.push(0);
  let start = 0;
  let carriageReturn = text.indexOf('\r');
  for (;;) {
    const feed = text.indexOf('\n', start);
    const end = feed === -1 ? text.length : feed;
    while (carriageReturn !== -1 && carriageReturn < end) {
      if (carriageReturn + 1 !== feed) {
        starts.push(carriageReturn + 1);
      }
      carriageReturn = text.indexOf('\r', carriageReturn + 1);
    }
    if (feed === -1) {
      break;
    }
    start = feed + 1;
    starts.push(start);
  }
  if (starts.last < text.length) {
    starts.push(text.length);
  }
  return starts.values();
}

class GrowingArray {
  #values: Uint32Array;
  #length = 0;

  constructor(expectedLength: number) {
    this.#values = new Uint32Array(expectedLength + 16);
  }

  get last(): number {
    return this.#values[this.#length - 1] ?? 0;
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const larger = new Uint32Array(this.#length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#length] = value;
    this.#length += 1;
  }

  values(): Uint32Array {
    return this.#values.subarray(0, this.#length);
  }
}
