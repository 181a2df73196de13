import type { ClientTiming } from './timing.ts';

export interface LivenessQuestions {
  /** The server may be busy with something else before it answers. */
  readonly isSerial: () => boolean;
  readonly ask: () => void;
  readonly giveUp: (reason: string) => void;
}

/** Finds connections that are dead without having ended: after some silence, asks for a sign of life. */
export class Liveness {
  readonly #timing: ClientTiming;
  readonly #questions: LivenessQuestions;
  #timer: NodeJS.Timeout | undefined;
  #heardAt = 0;
  #askedAt: number | undefined;
  #tickedAt = 0;

  constructor(timing: ClientTiming, questions: LivenessQuestions) {
    this.#timing = timing;
    this.#questions = questions;
  }

  start(): void {
    this.stop();
    this.#tickedAt = performance.now();
    this.heard();
    this.#timer = setInterval(() => this.#tick(), this.#interval);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  heard(): void {
    this.#heardAt = performance.now();
    this.#askedAt = undefined;
  }

  get #interval(): number {
    return this.#timing.probeAfterMs / 3;
  }

  #tick(): void {
    const now = performance.now();
    // The machine slept, or this program was held up: that says nothing about the server.
    const wasAsleep = now - this.#tickedAt > 3 * this.#interval;
    this.#tickedAt = now;
    if (this.#askedAt === undefined || wasAsleep) {
      if (wasAsleep || now - this.#heardAt >= this.#timing.probeAfterMs) {
        this.#askedAt = now;
        this.#questions.ask();
      }
      return;
    }
    const { patienceMs, serialPatienceMs } = this.#timing;
    const patience = this.#questions.isSerial() ? serialPatienceMs : patienceMs;
    if (now - this.#askedAt >= patience) {
      this.#questions.giveUp(`nothing came from the exec-server for ${Math.round(now - this.#heardAt)} ms`);
    }
  }
}
