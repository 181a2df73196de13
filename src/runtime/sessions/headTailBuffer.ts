/** As in the reference: at most 1 MiB of output per answer, its first and its last half. */
const maxBytes = 1024 * 1024;
const headBytes = maxBytes / 2;
const tailBytes = maxBytes - headBytes;

export interface CollectedOutput {
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
  /** Bytes dropped between head and tail; 0 when the output is `head` followed by `tail`. */
  readonly omittedBytes: number;
  readonly totalBytes: number;
}

/** Collects output in bounded memory: the beginning, the end, and the count of what lay between. */
export class HeadTailBuffer {
  #head: Uint8Array[] = [];
  #headLength = 0;
  /** Dropped chunks leave a hole, which holds no memory. */
  #tail: (Uint8Array | undefined)[] = [];
  #tailLength = 0;
  #firstTail = 0;
  #totalBytes = 0;

  get totalBytes(): number {
    return this.#totalBytes;
  }

  push(chunk: Uint8Array): void {
    this.#totalBytes += chunk.byteLength;
    const forHead = Math.min(headBytes - this.#headLength, chunk.byteLength);
    if (forHead > 0) {
      this.#head.push(chunk.subarray(0, forHead));
      this.#headLength += forHead;
    }
    if (forHead < chunk.byteLength) {
      this.#pushTail(chunk.subarray(forHead));
    }
  }

  /** Takes everything out; the buffer is empty afterwards. */
  take(): CollectedOutput {
    const head = Buffer.concat(this.#head);
    const allTail = Buffer.concat(this.#tail.slice(this.#firstTail) as Uint8Array[]);
    const tail = allTail.subarray(Math.max(0, allTail.byteLength - tailBytes));
    const totalBytes = this.#totalBytes;
    this.#head = [];
    this.#headLength = 0;
    this.#tail = [];
    this.#tailLength = 0;
    this.#firstTail = 0;
    this.#totalBytes = 0;
    return { head, tail, totalBytes, omittedBytes: totalBytes - head.byteLength - tail.byteLength };
  }

  /** Whole chunks are dropped, so the tail may be longer than its share by less than one chunk until taken. */
  #pushTail(chunk: Uint8Array): void {
    this.#tail.push(chunk);
    this.#tailLength += chunk.byteLength;
    for (;;) {
      const oldest = this.#tail[this.#firstTail] as Uint8Array;
      if (this.#tailLength - oldest.byteLength < tailBytes) {
        break;
      }
      this.#tailLength -= oldest.byteLength;
      this.#tail[this.#firstTail++] = undefined;
    }
    if (this.#firstTail > 256 && this.#firstTail * 2 > this.#tail.length) {
      this.#tail = this.#tail.slice(this.#firstTail);
      this.#firstTail = 0;
    }
  }
}
