import type { Answer } from '../approvals/approval.ts';

/** A script that needs more answers than this is one that tires the person out. */
export const mostQuestions = 20;

/** Puts the question; the signal ends when nobody waits for the answer any more. */
export type Ask = (signal: AbortSignal) => Promise<Answer>;

interface Open {
  readonly answer: Promise<Answer>;
  readonly end: AbortController;
  waiting: number;
}

/**
 * The questions of one script, one after the other. The same question asked again meanwhile is the same question; a no
 * of the person counts for the rest of the script.
 */
export class Questions {
  readonly #open = new Map<string, Open>();
  readonly #refused = new Map<string, Answer>();
  #last: Promise<unknown> = Promise.resolve();
  #count = 0;

  async ask(key: string, ask: Ask, signal: AbortSignal): Promise<Answer | 'too-many'> {
    const refused = this.#refused.get(key);
    if (refused !== undefined) {
      return refused;
    }
    if (!this.#open.has(key) && this.#count >= mostQuestions) {
      return 'too-many';
    }
    const open = this.#open.get(key) ?? this.#begin(key, ask);
    open.waiting++;
    const leave = (): void => {
      if (--open.waiting === 0) {
        this.#forget(key, open);
        open.end.abort();
      }
    };
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) {
      leave();
    }
    const answer = await open.answer;
    signal.removeEventListener('abort', leave);
    return answer;
  }

  #begin(key: string, ask: Ask): Open {
    this.#count++;
    const end = new AbortController();
    const answer = this.#last.then(() => ask(end.signal));
    const open: Open = { answer, end, waiting: 0 };
    this.#open.set(key, open);
    this.#last = answer.then(
      (given) => {
        this.#forget(key, open);
        if (given.kind === 'deny' && given.by === 'person') {
          this.#refused.set(key, given);
        }
      },
      () => this.#forget(key, open),
    );
    return open;
  }

  #forget(key: string, open: Open): void {
    if (this.#open.get(key) === open) {
      this.#open.delete(key);
    }
  }
}
