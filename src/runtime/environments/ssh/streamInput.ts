import type { Readable } from 'node:stream';

/** Reads a stream piece by piece, until the rest goes to somebody else. Every call rejects when the stream ends first. */
export class StreamInput {
  readonly #stream: Readable;
  #held = Buffer.alloc(0);

  constructor(stream: Readable) {
    this.#stream = stream;
  }

  /** Up to the next line end, which is left out. Rejects as well when there is none in `maxBytes`. */
  async line(maxBytes: number): Promise<string> {
    for (let from = 0; from <= maxBytes;) {
      const end = this.#held.indexOf(0x0a, from);
      if (end >= 0) {
        return this.#take(end + 1).toString('utf8', 0, end);
      }
      from = this.#held.length;
      this.#held = Buffer.concat([this.#held, await this.#next()]);
    }
    throw new Error(`a line is longer than ${maxBytes} bytes`);
  }

  async bytes(count: number): Promise<Buffer> {
    const first = this.#take(Math.min(count, this.#held.length));
    const chunks = [first];
    for (let left = count - first.length; left > 0;) {
      const chunk = await this.#next();
      chunks.push(chunk.subarray(0, left));
      this.#held = chunk.subarray(left);
      left -= Math.min(left, chunk.length);
    }
    return Buffer.concat(chunks);
  }

  /** The stream with everything that was not taken. */
  rest(): Readable {
    if (this.#held.length > 0) {
      this.#stream.unshift(this.#take(this.#held.length));
    }
    return this.#stream;
  }

  #take(count: number): Buffer<ArrayBuffer> {
    const taken = this.#held.subarray(0, count);
    this.#held = this.#held.subarray(count);
    return taken;
  }

  #next(): Promise<Buffer<ArrayBuffer>> {
    return new Promise((resolve, reject) => {
      const stream = this.#stream;
      const settle = (action: () => void): void => {
        stream.off('readable', read).off('close', ended).off('end', ended);
        action();
      };
      const read = (): void => {
        const chunk = stream.read() as Buffer<ArrayBuffer> | null;
        if (chunk !== null) {
          settle(() => resolve(chunk));
        }
      };
      const ended = (): void => settle(() => reject(new Error('the connection ended')));
      stream.on('readable', read).on('close', ended).on('end', ended);
      if (stream.readableEnded || stream.destroyed) {
        ended();
      } else {
        read();
      }
    });
  }
}
