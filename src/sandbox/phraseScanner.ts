/**
 * Finds any of a few phrases in a byte stream, ASCII case-insensitively, also when a phrase is split over chunks.
 * It looks at about every fifth byte (Wu and Manber's shift table over pairs of bytes), because floods of
 * 100 MB pass through it.
 */
export class PhraseScanner {
  readonly #phrases: PhraseTable;
  #isFound = false;
  /** The end of what was pushed, in which a phrase may have begun. */
  #tail: Uint8Array = new Uint8Array(0);

  constructor(phrases: PhraseTable) {
    this.#phrases = phrases;
  }

  get isFound(): boolean {
    return this.#isFound;
  }

  push(chunk: Uint8Array): void {
    if (this.#isFound || chunk.length === 0) {
      return;
    }
    const overlap = this.#phrases.longest - 1;
    const seam = concat(this.#tail, chunk.subarray(0, overlap));
    this.#isFound = contains(seam, this.#phrases) || contains(chunk, this.#phrases);
    this.#tail = chunk.length >= overlap ? chunk.slice(chunk.length - overlap) : lastOf(seam, overlap);
  }
}

/** Phrases prepared for {@link PhraseScanner}. */
export interface PhraseTable {
  readonly phrases: readonly Uint8Array[];
  readonly shortest: number;
  readonly longest: number;
  /** How far the window may move when it ends in a pair of bytes; 0: compare here. */
  readonly shifts: Uint8Array;
}

/** Prepares lower-case ASCII phrases of at least two letters. */
export function phraseTable(texts: readonly string[]): PhraseTable {
  const phrases = texts.map((text) => Buffer.from(text, 'latin1'));
  const shortest = Math.min(...phrases.map((phrase) => phrase.length));
  const shifts = new Uint8Array(pairCount).fill(shortest - 1);
  for (const phrase of phrases) {
    for (let end = 1; end < shortest; end += 1) {
      const pair = pairOf(phrase[end - 1] ?? 0, phrase[end] ?? 0);
      shifts[pair] = Math.min(shifts[pair] ?? 0, shortest - 1 - end);
    }
  }
  return { phrases, shortest, longest: Math.max(...phrases.map((phrase) => phrase.length)), shifts };
}

const pairCount = 1024;

/** Five bits of each byte: upper and lower case fall together, and so may others, which only costs a comparison. */
function pairOf(first: number, second: number): number {
  return ((first & 31) << 5) | (second & 31);
}

function contains(text: Uint8Array, { phrases, shortest, shifts }: PhraseTable): boolean {
  for (let end = shortest - 1; end < text.length;) {
    const shift = shifts[pairOf(text[end - 1] ?? 0, text[end] ?? 0)] ?? 0;
    if (shift > 0) {
      end += shift;
      continue;
    }
    const start = end - shortest + 1;
    if (phrases.some((phrase) => isAt(text, start, phrase))) {
      return true;
    }
    end += 1;
  }
  return false;
}

function isAt(text: Uint8Array, start: number, phrase: Uint8Array): boolean {
  if (start + phrase.length > text.length) {
    return false;
  }
  for (let index = 0; index < phrase.length; index += 1) {
    if (lower(text[start + index] ?? 0) !== phrase[index]) {
      return false;
    }
  }
  return true;
}

function lower(byte: number): number {
  return byte >= 65 && byte <= 90 ? byte | 32 : byte;
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}

function lastOf(bytes: Uint8Array, count: number): Uint8Array {
  return bytes.slice(Math.max(0, bytes.length - count));
}
