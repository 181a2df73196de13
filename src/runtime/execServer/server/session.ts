import { randomUUID } from 'node:crypto';
import type { ParamsOf, ResultOf } from '../protocol/methods.ts';
import type { Backends, ConfiguredBackend, SandboxConfiguration } from '../services/processes/backends.ts';
import { noConfiguration } from '../services/processes/backends.ts';
import type { ProcessTableOptions } from '../services/processes/processTable.ts';
import { ProcessTable } from '../services/processes/processTable.ts';
import type { ServedConnection } from './service.ts';

/** What outlives a connection: processes, and how they are to be confined. */
export class Session {
  readonly id: string = randomUUID();
  readonly processes: ProcessTable;
  readonly #backends: Backends;
  #configuration: SandboxConfiguration = noConfiguration;
  #client: ServedConnection | undefined;

  constructor(backends: Backends, options: ProcessTableOptions) {
    this.#backends = backends;
    this.processes = new ProcessTable(options);
  }

  get isAttached(): boolean {
    return this.#client !== undefined;
  }

  /** Sandbox and backend under the session's configuration. */
  get configured(): ConfiguredBackend {
    return this.#backends.for(this.#configuration);
  }

  attach(client: ServedConnection): void {
    this.#client = client;
    this.processes.attach(client);
  }

  detach(): void {
    this.#client = undefined;
    this.processes.detach();
  }

  configure(configuration: SandboxConfiguration): void {
    this.#configuration = configuration;
  }

  start(params: ParamsOf<'process/start'>): Promise<ResultOf<'process/start'>> {
    return this.processes.start(params, this.configured.backend);
  }
}
