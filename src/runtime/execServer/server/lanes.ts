/** How a request stands in a lane. `passing`: waits as `shared` does, and holds nobody back. */
export type LaneMode = 'exclusive' | 'shared' | 'passing';

export interface LaneEntry {
  readonly lane: string;
  readonly mode: LaneMode;
}

interface LaneState {
  exclusive: Promise<void> | undefined;
  readonly shared: Set<Promise<void>>;
}

/** Where a request got in: what it has to wait for, and how it leaves. */
export interface Passage {
  /** Undefined when nothing is in the way. */
  readonly ready: Promise<unknown> | undefined;
  leave(): void;
}

/**
 * Keeps requests in order where order matters. Each waits only for requests that came before it, so that no circle
 * can arise.
 */
export class Lanes {
  readonly #lanes = new Map<string, LaneState>();

  enter(entries: readonly LaneEntry[]): Passage {
    const before: Promise<void>[] = [];
    const { promise: done, resolve } = Promise.withResolvers<void>();
    for (const { lane, mode } of entries) {
      const state = this.#lanes.get(lane);
      if (state?.exclusive !== undefined) {
        before.push(state.exclusive);
      }
      if (mode === 'exclusive') {
        before.push(...(state?.shared ?? []));
        this.#lanes.set(lane, { exclusive: done, shared: new Set() });
      } else if (mode === 'shared') {
        const joined = state ?? { exclusive: undefined, shared: new Set() };
        joined.shared.add(done);
        this.#lanes.set(lane, joined);
      }
    }
    return {
      ready: before.length === 0 ? undefined : Promise.all(before),
      leave: () => {
        this.#leave(entries, done);
        resolve();
      },
    };
  }

  #leave(entries: readonly LaneEntry[], done: Promise<void>): void {
    for (const { lane } of entries) {
      const state = this.#lanes.get(lane);
      if (state === undefined) {
        continue;
      }
      state.shared.delete(done);
      if (state.exclusive === done) {
        state.exclusive = undefined;
      }
      if (state.exclusive === undefined && state.shared.size === 0) {
        this.#lanes.delete(lane);
      }
    }
  }
}
