import type { Writable } from 'node:stream';

/** Makes one system call of all that is written to a stream before the event loop goes on. */
export class OneWrite {
  readonly #stream: Writable;
  #isOpen = false;

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  /** Before something is written. */
  begin(): void {
    if (!this.#isOpen) {
      this.#isOpen = true;
      this.#stream.cork();
      process.nextTick(() => this.end());
    }
  }

  /** What was written goes now. */
  end(): void {
    if (this.#isOpen) {
      this.#isOpen = false;
      this.#stream.uncork();
    }
  }
}
