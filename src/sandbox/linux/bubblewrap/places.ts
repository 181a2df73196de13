import { dirname } from 'node:path';

/** What the sandbox shows at a path and below it, up to the next place. */
export interface Place {
  readonly path: string;
  readonly shows: Shows;
  /** What is shown there, when it is not the same path outside. */
  readonly source?: string;
}

/** `scratch`: empty, writable, in memory. `devices`, `processes`: the sandbox's own `/dev` and `/proc`. */
export type Shows = 'none' | 'read' | 'write' | 'scratch' | 'devices' | 'processes';

/** Places by path, of which the deepest that contains a path decides. */
export class Places {
  readonly #places = new Map<string, Place>();

  /** A later place outranks an earlier one at the same path. */
  put(place: Place): void {
    this.#places.set(place.path, place);
  }

  at(path: string): Place | undefined {
    return this.#places.get(path);
  }

  /** The place that decides about a path. */
  enclosing(path: string): Place | undefined {
    return this.#places.get(path) ?? this.above(path);
  }

  /** The place that would decide about a path if it had none of its own. */
  above(path: string): Place | undefined {
    for (let at = path; at !== '/';) {
      at = dirname(at);
      const place = this.#places.get(at);
      if (place !== undefined) {
        return place;
      }
    }
    return undefined;
  }

  all(): readonly Place[] {
    return [...this.#places.values()];
  }
}
