import type { Pipe } from './pipeMaker.ts';
import { PipeMaker } from './pipeMaker.ts';

/** Enough for two starts; below it, more are made. */
const minReady = 6;
/** In a row, after which nobody waits for pipes for a while: the companion is another one, or /proc is closed. */
const maxFailures = 3;
const restMs = 60_000;

interface Customer {
  readonly count: number;
  readonly resolve: (pipes: readonly Pipe[] | undefined) => void;
}

/**
 * The pipes of this process, made ahead of need by a companion process that is started with the first need, and
 * again when it was killed.
 */
export class PipeFactory {
  readonly #companion: string;
  readonly #ready: Pipe[] = [];
  readonly #customers: Customer[] = [];
  #maker: PipeMaker | undefined;
  #isMaking = false;
  #failures = 0;

  constructor(companion: string) {
    this.#companion = companion;
  }

  /** To be called when a need comes soon. */
  prepare(): void {
    if (!this.#isMaking && this.#failures < maxFailures && this.#lacks()) {
      this.#isMaking = true;
      void this.#make();
    }
  }

  /** Pipes that the caller closes; undefined when there are none to be had. */
  async take(count: number): Promise<readonly Pipe[] | undefined> {
    const pipes = new Promise<readonly Pipe[] | undefined>((resolve) =>
      this.#customers.push({ count, resolve }),
    );
    this.#serve();
    if (this.#maker !== undefined && this.#customers.length > 0) {
      this.#maker.isWaitedFor = true;
    }
    this.prepare();
    return pipes;
  }

  #lacks(): boolean {
    return this.#customers.length > 0 || this.#ready.length < minReady;
  }

  async #make(): Promise<void> {
    while (this.#failures < maxFailures && this.#lacks()) {
      const pipes = await this.#makeSome();
      this.#failures = pipes === undefined ? this.#failures + 1 : 0;
      this.#ready.push(...(pipes ?? []));
      if (this.#failures === maxFailures) {
        setTimeout(() => (this.#failures = 0), restMs).unref();
      }
      this.#serve();
    }
    this.#isMaking = false;
    if (this.#maker !== undefined) {
      this.#maker.isWaitedFor = false;
    }
  }

  async #makeSome(): Promise<readonly Pipe[] | undefined> {
    try {
      this.#maker ??= new PipeMaker(this.#companion, () => (this.#maker = undefined));
      this.#maker.isWaitedFor = this.#customers.length > 0;
      return await this.#maker.make();
    } catch {
      return undefined;
    }
  }

  #serve(): void {
    for (let next = this.#customers[0]; next !== undefined; next = this.#customers[0]) {
      const isHopeless = this.#failures >= maxFailures;
      if (this.#ready.length < next.count && !isHopeless) {
        break;
      }
      this.#customers.shift();
      next.resolve(this.#ready.length < next.count ? undefined : this.#ready.splice(0, next.count));
    }
  }
}

const factories = new Map<string, PipeFactory>();

/** The factory of this process by that companion program. */
export function pipeFactory(companion: string): PipeFactory {
  const factory = factories.get(companion) ?? new PipeFactory(companion);
  factories.set(companion, factory);
  return factory;
}
