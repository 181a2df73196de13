import type { Disposable } from '../../../../../base/disposable.ts';
import type { SandboxPolicy } from '../../../../../sandbox/policy/policy.ts';
import { policyHash } from '../../../../../sandbox/policy/policyHash.ts';
import type { NotificationParams } from '../../../protocol/methods.ts';
import type { WorkerOptions } from './fileWorker.ts';
import { FileWorker } from './fileWorker.ts';
import { workerPolicy } from './workerPolicy.ts';

export interface WorkerEvents {
  readonly missingChanged: (event: NotificationParams<'fs/missingChanged'>) => void;
  /** What it had open is closed. */
  readonly ended: (worker: FileWorker) => void;
}

/** The workers of one connection: one per policy, as far as files are concerned. */
export class FileWorkers implements Disposable {
  readonly #options: (policy: SandboxPolicy) => WorkerOptions;
  readonly #events: WorkerEvents;
  readonly #workers = new Map<string, FileWorker>();

  constructor(options: (policy: SandboxPolicy) => WorkerOptions, events: WorkerEvents) {
    this.#options = options;
    this.#events = events;
  }

  of(policy: SandboxPolicy): FileWorker {
    const part = workerPolicy(policy);
    const options = this.#options(policy);
    // Whoever changes what confines commands does not get the workers from before.
    const key = `${policyHash(part)} ${numberOf(options.sandbox)}`;
    const known = this.#workers.get(key);
    if (known !== undefined) {
      return known;
    }
    const worker = new FileWorker(
      part,
      options,
      () => {
        this.#workers.delete(key);
        this.#events.ended(worker);
      },
      this.#events.missingChanged,
    );
    this.#workers.set(key, worker);
    return worker;
  }

  dispose(): void {
    for (const worker of [...this.#workers.values()]) {
      worker.dispose();
    }
  }
}

const numbers = new WeakMap<object, number>();
let last = 0;

function numberOf(object: object): number {
  const number = numbers.get(object) ?? ++last;
  numbers.set(object, number);
  return number;
}
