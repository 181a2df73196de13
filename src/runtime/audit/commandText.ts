/** A part of a text: from the first index up to the second, without that. */
export type Range = readonly [start: number, end: number];

const none = 0;
const single = 1;
const double = 2;

/** A command line, or what is left of one, in which words can be read from any place on. */
export class CommandText {
  readonly text: string;
  /** Its quotes were taken out, so it does not tell where words end that have spaces in them. */
  readonly isBare: boolean;
  #quotes: Uint8Array | undefined;

  constructor(text: string, { isBare }: { readonly isBare: boolean }) {
    this.text = text;
    this.isBare = isBare;
  }

  /**
   * The shell word that starts there, quotes included. What stands inside of quotes itself (the script of `sh -c "…"`)
   * ends with them. In text that is no shell script, such as a here-document, that is the best guess.
   */
  wordAt(start: number): Range {
    const { text } = this;
    const outer = this.quoteAt(start);
    let at = start;
    while (at < text.length) {
      const character = text[at] as string;
      if (character === outer && at > start) {
        break;
      }
      if (character === '\\') {
        at = this.#afterEscape(at, outer);
      } else if (character === "'" || character === '"') {
        at = this.#afterQuotes(at);
      } else if (/[\s;|&<>()`]/.test(character)) {
        break;
      } else {
        at += 1;
      }
    }
    return [start, Math.min(at, text.length)];
  }

  /** `\"two words\"` is a string inside of a string. */
  #afterEscape(at: number, outer: string | undefined): number {
    let quote = at;
    while (this.text[quote] === '\\') {
      quote += 1;
    }
    const marks = this.text.slice(at, quote + 1);
    if (outer !== '"' || !marks.endsWith('"')) {
      return at + 2;
    }
    const close = this.text.indexOf(marks, quote + 1);
    const outerClose = this.text.slice(quote + 1, close < 0 ? undefined : close).search(/(?<!\\)"/);
    return close < 0 || outerClose >= 0 ? at + 2 : close + marks.length;
  }

  #afterQuotes(at: number): number {
    const quote = this.text[at] as string;
    const isAnsi = quote === "'" && this.text[at - 1] === '$';
    for (let index = at + 1; index < this.text.length; index += 1) {
      const character = this.text[index];
      if (character === quote) {
        return index + 1;
      }
      if (character === '\\' && (quote === '"' || isAnsi)) {
        index += 1;
      }
    }
    return at + 1; // never closed: an apostrophe
  }

  /** The simple commands, roughly: what lies between newlines, `;`, `|` and `&` outside of quotes. */
  segments(): readonly Range[] {
    const ends = [...this.text.matchAll(/(?<!\\)[\n;|&]/g)]
      .map(({ index }) => index)
      .filter((index) => this.quoteAt(index) === undefined);
    return [...ends, this.text.length].map((end, index) => [(ends[index - 1] ?? -1) + 1, end] as const);
  }

  /** Inside of which quotes a place is. */
  quoteAt(at: number): '"' | "'" | undefined {
    this.#quotes ??= quotesOf(this.text);
    const quotes = this.#quotes[at] ?? none;
    return quotes === none ? undefined : quotes === single ? "'" : '"';
  }
}

function quotesOf(text: string): Uint8Array {
  const quotes = new Uint8Array(text.length);
  let state = none;
  for (let at = 0; at < text.length; at += 1) {
    quotes[at] = state;
    const character = text[at];
    if (character === '\\' && state !== single) {
      at += 1;
      quotes[at] = state;
    } else if (character === "'" && state !== double) {
      state = state === single ? none : single;
    } else if (character === '"' && state !== single) {
      state = state === double ? none : double;
    }
  }
  return quotes;
}
