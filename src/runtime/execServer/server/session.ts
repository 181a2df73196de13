import { randomUUID } from 'node:crypto';
import type { SandboxPolicy } from '../../../sandbox/policy/policy.ts';
import { isUnsandboxed, writableRoots } from '../../../sandbox/policy/policy.ts';
import type { Trace } from '../protocol/envelope.ts';
import type { ParamsOf, ResultOf } from '../protocol/methods.ts';
import type { Backends, ConfiguredBackend, SandboxConfiguration } from '../services/processes/backends.ts';
import { noConfiguration } from '../services/processes/backends.ts';
import { DoorTable } from '../services/doors/doorTable.ts';
import type { ProcessTableOptions } from '../services/processes/processTable.ts';
import { ProcessTable } from '../services/processes/processTable.ts';
import type { ServedConnection } from './service.ts';

/** What outlives a connection: processes, and how they are to be confined. */
export class Session {
  readonly id: string = randomUUID();
  readonly processes: ProcessTable;
  readonly doors = new DoorTable();
  readonly #backends: Backends;
  #configuration: SandboxConfiguration | undefined;
  #client: ServedConnection | undefined;

  constructor(backends: Backends, options: Omit<ProcessTableOptions, 'backendFor' | 'doors'>) {
    this.#backends = backends;
    this.processes = new ProcessTable({
      ...options,
      doors: this.doors,
      backendFor: (policy) => this.confinedBy(policy).backend,
    });
  }

  get isAttached(): boolean {
    return this.#client !== undefined;
  }

  /** Sandbox and backend for a policy, under the session's configuration. */
  confinedBy(policy: SandboxPolicy): ConfiguredBackend {
    // Of a client that does not tell what it has open, no launcher is taken from where its commands write.
    const untrustedFolders = isUnsandboxed(policy) ? [] : writableRoots(policy);
    return this.#backends.for(this.#configuration ?? { ...noConfiguration, untrustedFolders });
  }

  /** What is never written on the client's behalf. */
  get trustedPaths(): readonly string[] {
    return this.#configuration?.trustedPaths ?? [];
  }

  attach(client: ServedConnection): void {
    this.#client = client;
    this.doors.attach(client);
    this.processes.attach(client);
  }

  detach(): void {
    this.#client = undefined;
    this.doors.detach();
    this.processes.detach();
  }

  configure(configuration: SandboxConfiguration): void {
    this.#configuration = configuration;
  }

  start(params: ParamsOf<'process/start'>, trace?: Trace): Promise<ResultOf<'process/start'>> {
    return this.processes.start(params, trace);
  }
}
