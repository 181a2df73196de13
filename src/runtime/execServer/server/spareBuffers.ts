/** Enough for a message with 64 KiB in base64. */
const spareBytes = 96 * 1024;
/** So many are kept: what may wait for one slow client. */
const maxSpares = 16;

export interface TakenBuffer {
  readonly bytes: Buffer;
  /** Absent when the collector takes care of it. To be called once, when nobody reads or writes the bytes any more. */
  readonly giveBack?: () => void;
}

/**
 * Memory that is used again and again by what is large and short-lived. Whatever is allocated outside of the heap
 * makes the collector look through all of the heap every few dozen MiB.
 */
export class SpareBuffers {
  readonly #spares: Buffer[] = [];

  /** So many bytes with anything in them. */
  take(length: number): TakenBuffer {
    // Node has a pool of its own for small ones.
    if (length <= Buffer.poolSize / 2 || length > spareBytes) {
      return { bytes: Buffer.allocUnsafe(length) };
    }
    const buffer = this.#spares.pop() ?? Buffer.allocUnsafeSlow(spareBytes);
    return {
      bytes: buffer.subarray(0, length),
      giveBack: () => {
        if (this.#spares.length < maxSpares) {
          this.#spares.push(buffer);
        }
      },
    };
  }
}
