import { Emitter } from '../../../base/event.ts';

/** Of a client that has no more than this, requests are read whatever the others send. */
const fairShare = 256 * 1024;

/**
 * Bytes of the requests of all clients of a server that have no answer yet. When they are too many, those of clients
 * with more than a fair share are no longer read, until half of them is answered.
 */
export class Inbound {
  readonly #most: number;
  readonly #emptied = new Emitter<void>();
  /** After it was full. */
  readonly onEmptied = this.#emptied.event;
  #bytes = 0;
  #isFull = false;

  constructor(bytes: number) {
    this.#most = bytes;
  }

  /** Whether a client with so many of them has to wait. */
  mustWait(pendingBytes: number): boolean {
    return this.#isFull && pendingBytes > fairShare;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    this.#isFull ||= this.#bytes > this.#most;
  }

  remove(bytes: number): void {
    this.#bytes -= bytes;
    if (this.#isFull && this.#bytes <= this.#most / 2) {
      this.#isFull = false;
      this.#emptied.fire();
    }
  }
}
