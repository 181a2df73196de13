import type { Socket } from 'node:net';

/** What a {@link ByteReader} rejects with. */
export class ConnectionEnded extends Error {}

/** Takes exact numbers of bytes from a socket, and leaves the rest, its end included, to the next reader. */
export class ByteReader {
  readonly #socket: Socket;
  #bytes: Buffer = Buffer.alloc(0);
  #isEnded = false;
  #wake = (): void => {};

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', this.#accept);
    socket.once('end', this.#end);
    socket.once('close', this.#end);
  }

  /** Rejects when the socket ends before. */
  async take(count: number): Promise<Buffer> {
    while (this.#bytes.length < count) {
      if (this.#isEnded) {
        throw new ConnectionEnded();
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        this.#socket.resume();
      });
    }
    const taken = this.#bytes.subarray(0, count);
    this.#bytes = this.#bytes.subarray(count);
    return taken;
  }

  release(): void {
    this.#socket.removeListener('data', this.#accept);
    this.#socket.removeListener('end', this.#end);
    this.#socket.removeListener('close', this.#end);
    if (this.#bytes.length > 0) {
      this.#socket.unshift(this.#bytes);
    }
  }

  readonly #accept = (chunk: Buffer): void => {
    // No more than is asked for: an end that comes now is for the next reader to see.
    this.#socket.pause();
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    this.#wake();
  };

  readonly #end = (): void => {
    this.#isEnded = true;
    this.#wake();
  };
}
