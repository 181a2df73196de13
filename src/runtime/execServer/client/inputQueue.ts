import { randomBytes } from 'node:crypto';
import type { ExecClient } from './execClient.ts';
import { ConnectionLost } from './execClient.ts';

/** As much as one message carries; the rest waits for the answer. */
const mostBytesAtOnce = 256 * 1024;
const endOfFile = Buffer.from([4]);

export interface InputQueueOptions {
  readonly client: ExecClient;
  readonly processId: string;
  readonly isTty: boolean;
  readonly hasInput: boolean;
}

/**
 * What is typed into a process, in order: one write is on its way at a time, and what comes meanwhile goes together
 * with the next. Each has an id by which the server knows it again when it is repeated on another connection.
 */
export class InputQueue {
  readonly #options: InputQueueOptions;
  readonly #onProblem: (problem: string) => void;
  #pending: Uint8Array[] = [];
  #isSending = false;
  #isOpen: boolean;
  #endsAfterwards = false;
  /** An earlier client may have written to the same process. */
  readonly #idPrefix = randomBytes(6).toString('hex');
  #lastId = 0;

  constructor(options: InputQueueOptions, onProblem: (problem: string) => void) {
    this.#options = options;
    this.#onProblem = onProblem;
    this.#isOpen = options.isTty || options.hasInput;
  }

  /** False when the process takes no input, or does not any more. */
  write(bytes: Uint8Array): boolean {
    if (!this.#isOpen) {
      return false;
    }
    this.#pending.push(bytes);
    void this.#send();
    return true;
  }

  /** Ends the input after what was written. A terminal gets the character for it, as does a person's. */
  end(): void {
    if (this.#options.isTty) {
      this.write(endOfFile);
    } else if (this.#isOpen) {
      this.#isOpen = false;
      this.#endsAfterwards = true;
      void this.#send();
    }
  }

  /** The process has ended. */
  close(): void {
    this.#isOpen = false;
    this.#endsAfterwards = false;
    this.#pending = [];
  }

  async #send(): Promise<void> {
    if (this.#isSending) {
      return;
    }
    this.#isSending = true;
    try {
      while (this.#pending.length > 0) {
        await this.#write(this.#take());
      }
      if (this.#endsAfterwards) {
        this.#endsAfterwards = false;
        await this.#end();
      }
    } catch (cause) {
      this.close();
      if (!(cause instanceof ConnectionLost)) {
        this.#onProblem(`Input for a process did not arrive: ${String(cause)}`);
      }
    } finally {
      this.#isSending = false;
    }
  }

  async #write(bytes: Uint8Array): Promise<void> {
    const { client, processId } = this.#options;
    const chunk = Buffer.from(bytes).toString('base64');
    for (;;) {
      const writeId = `${this.#idPrefix}-${++this.#lastId}`;
      const { status } = await client.call('process/write', { processId, chunk, writeId });
      if (status === 'stdinClosed' || status === 'unknownProcess') {
        this.close();
      }
      if (status !== 'starting') {
        return;
      }
      // Its program is not there yet, so nothing was written.
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async #end(): Promise<void> {
    const { client, processId } = this.#options;
    if (client.isCordon) {
      await client.call('cordon/process/endInput', { processId });
    } else {
      this.#onProblem('This exec-server has no way to end the input of a process: it stays open.');
    }
  }

  #take(): Uint8Array {
    const [first, ...others] = this.#pending as [Uint8Array, ...Uint8Array[]];
    if (first.byteLength > mostBytesAtOnce) {
      this.#pending[0] = first.subarray(mostBytesAtOnce);
      return first.subarray(0, mostBytesAtOnce);
    }
    const taken = [first];
    let bytes = first.byteLength;
    for (const next of others) {
      bytes += next.byteLength;
      if (bytes > mostBytesAtOnce) {
        break;
      }
      taken.push(next);
    }
    this.#pending.splice(0, taken.length);
    return taken.length === 1 ? first : Buffer.concat(taken);
  }
}
