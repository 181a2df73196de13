import type { PolicySettings } from '../policy/settings.ts';

/** Something in the file of another program that the profile does not say, or says otherwise. */
export interface ImportNote {
  /** The key or rule, as the other program spells it. */
  readonly what: string;
  readonly why: string;
}

/** A sandbox policy of another program, in the terms of Cordon's settings. Nothing in it applies by itself. */
export interface ImportedPolicy {
  /** How the other program calls it. */
  readonly name: string;
  /** The one that the other program uses by default. */
  readonly isInUse: boolean;
  readonly settings: PolicySettings;
  readonly notes: readonly ImportNote[];
}

/** Why a file cannot be read as what it should be: one sentence that names the place. */
export interface ImportProblem {
  readonly message: string;
}

/** Collects notes while a file is translated; each is kept once. */
export class Notes {
  readonly #notes = new Map<string, ImportNote>();

  add(what: string, why: string): void {
    this.#notes.set(`${what}\n${why}`, { what, why });
  }

  /** A note for each key that the file has. */
  addPresent(present: Readonly<Record<string, unknown>>, whys: Readonly<Record<string, string>>): void {
    for (const [key, why] of Object.entries(whys)) {
      if (present[key] !== undefined) {
        this.add(key, why);
      }
    }
  }

  get all(): readonly ImportNote[] {
    return [...this.#notes.values()];
  }
}
