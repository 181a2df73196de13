import type { Clock } from '../../../src/terminal/outputPacer.ts';

/** A clock that stands still until it is advanced. */
export class FakeClock implements Clock {
  #now = 0;
  readonly #timers = new Set<{ readonly at: number; readonly action: () => void }>();

  now(): number {
    return this.#now;
  }

  after(delayMs: number, action: () => void): { dispose(): void } {
    const timer = { at: this.#now + delayMs, action };
    this.#timers.add(timer);
    return { dispose: () => void this.#timers.delete(timer) };
  }

  get pending(): number {
    return this.#timers.size;
  }

  advance(byMs: number): void {
    const end = this.#now + byMs;
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#timers.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.action();
    }
    this.#now = end;
  }

  #next(end: number): { readonly at: number; readonly action: () => void } | undefined {
    return [...this.#timers].filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
  }
}
