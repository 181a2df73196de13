import { Spawner } from './spawner.ts';

/** After one that cannot be used: the companion is another program, or has no rights here. */
const restMs = 60_000;

/** The spawner of this process by a companion program: started with the first need, and again when it was killed. */
export class Spawners {
  readonly #companion: string;
  #current: Spawner | undefined;
  #restsUntil = 0;

  constructor(companion: string) {
    this.#companion = companion;
  }

  /** To be called when a need comes soon. */
  prepare(): void {
    if (this.#current?.hasEnded !== false && performance.now() >= this.#restsUntil) {
      this.#current = this.#start();
    }
  }

  /** Undefined when there is none to be had. */
  async get(): Promise<Spawner | undefined> {
    this.prepare();
    const spawner = this.#current;
    if (spawner === undefined || spawner.hasEnded || !(await spawner.isUsable())) {
      return undefined;
    }
    return spawner;
  }

  #start(): Spawner | undefined {
    try {
      const spawner = new Spawner(this.#companion);
      void spawner.isUsable().then((isUsable) => isUsable || this.#rest());
      return spawner;
    } catch {
      this.#rest();
      return undefined;
    }
  }

  #rest(): void {
    this.#restsUntil = performance.now() + restMs;
  }
}

const all = new Map<string, Spawners>();

/** Those of this process by that companion program. */
export function spawnersOf(companion: string): Spawners {
  const spawners = all.get(companion) ?? new Spawners(companion);
  all.set(companion, spawners);
  return spawners;
}
