import { randomUUID } from 'node:crypto';
import type { Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/event.ts';
import type { Denial } from '../../sandbox/denials/denial.ts';
import type { Widening } from '../../sandbox/policy/widening.ts';
import type { Root } from '../roots.ts';

/** Something that the sandbox stopped, and whose command it was. */
export interface DenialRecord {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly root: Root;
  readonly sessionId: number;
  readonly commandLine: string;
  readonly cwd: string;
  readonly denial: Denial;
  /** What a person could grant so that it succeeds: each of them would help under the policy of then. */
  readonly fixes: readonly Widening[];
}

const maxRecords = 200;

/** What the sandbox stopped since the window opened, newest first. */
export class DenialLog implements Disposable {
  readonly #didChange = new Emitter<void>();
  readonly onDidChange = this.#didChange.event;
  #records: readonly DenialRecord[] = [];

  list(): readonly DenialRecord[] {
    return this.#records;
  }

  get(id: string): DenialRecord | undefined {
    return this.#records.find((record) => record.id === id);
  }

  add(record: Omit<DenialRecord, 'id' | 'at'>): DenialRecord {
    const added = { ...record, id: randomUUID(), at: Date.now() };
    this.#records = [added, ...this.#records].slice(0, maxRecords);
    this.#didChange.fire();
    return added;
  }

  /** Takes records out of the list; all of them without an id. */
  clear(id?: string): void {
    this.#records = id === undefined ? [] : this.#records.filter((record) => record.id !== id);
    this.#didChange.fire();
  }

  dispose(): void {
    this.#didChange.dispose();
  }
}
