/** Lets a number of tasks run at once; the others wait their turn. */
export class Slots {
  readonly #count: number;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(count: number) {
    this.#count = count;
  }

  /** Undefined when there was a free one, which is taken then. */
  take(): Promise<void> | undefined {
    if (this.#taken < this.#count) {
      this.#taken++;
      return undefined;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  free(): void {
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#taken--;
    } else {
      next();
    }
  }
}
