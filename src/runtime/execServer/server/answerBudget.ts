import type { Disposable } from '../../../base/disposable.ts';
import { toDisposable } from '../../../base/disposable.ts';

interface Waiting {
  readonly bytes: number;
  readonly enter: () => void;
}

/**
 * The bytes that the large answers of a server may take in all, from when one is begun until its client has taken it:
 * many clients, or one that asks much at once, must not cost more memory than there is. In order of arrival, so that
 * small ones never keep a large one waiting for ever.
 */
export class AnswerBudget {
  readonly #total: number;
  #free: number;
  #waiting: Waiting[] = [];

  constructor(bytes: number) {
    this.#total = bytes;
    this.#free = bytes;
  }

  /** Resolves with so many of them, to be given back; more than there are is all of them. Rejects when the signal aborts. */
  async take(bytes: number, signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    const share = Math.min(bytes, this.#total);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting: Waiting = { bytes: share, enter: resolve };
    const giveUp = (): void => {
      if (this.#waiting.includes(waiting)) {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        reject(signal.reason as Error);
        this.#admit();
      }
    };
    signal.addEventListener('abort', giveUp, { once: true });
    this.#waiting.push(waiting);
    this.#admit();
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
    return toDisposable(() => {
      this.#free += share;
      this.#admit();
    });
  }

  #admit(): void {
    for (
      let [first] = this.#waiting;
      first !== undefined && first.bytes <= this.#free;
      [first] = this.#waiting
    ) {
      this.#waiting.shift();
      this.#free -= first.bytes;
      first.enter();
    }
  }
}
