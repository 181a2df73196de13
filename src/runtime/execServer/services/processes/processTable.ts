import { failSpan, startSpan } from '../../../../base/telemetry.ts';
import type { SandboxPolicy } from '../../../../sandbox/policy/policy.ts';
import { isUnsandboxed } from '../../../../sandbox/policy/policy.ts';
import type { DoorConnection } from '../../../../sandbox/sandboxManager.ts';
import { findExecutable } from '../../../exec/findExecutable.ts';
import type { LocalBackend } from '../../../exec/localBackend.ts';
import { traceProcess } from '../../../exec/traceProcess.ts';
import type { Trace } from '../../protocol/envelope.ts';
import { errorCodes, RpcError } from '../../protocol/errors.ts';
import { pathOf } from '../../protocol/fileUri.ts';
import type { ParamsOf, ResultOf } from '../../protocol/methods.ts';
import type { ServedConnection } from '../../server/service.ts';
import type { ServerLog } from '../../server/serverLog.ts';
import type { DoorTable } from '../doors/doorTable.ts';
import { managedStartOf } from '../managedNetwork/managedStart.ts';
import { confinementOf } from '../sandboxContext/confinement.ts';
import type { ContextMachine } from '../sandboxContext/contextMachine.ts';
import { requestedEnvironment } from './processEnvironment.ts';
import { ServedProcess } from './servedProcess.ts';
import { startFailure } from './spawnErrors.ts';

type StartParams = ParamsOf<'process/start'>;

/** Of a terminal whose size nobody asked for. */
const defaultSize = { columns: 80, rows: 24 };

export interface ProcessTableOptions {
  readonly log: ServerLog;
  readonly parentEnv: NodeJS.ProcessEnv;
  /** What a terminal's commands get as SHELL when nobody says. */
  readonly shell: string;
  /** How long a closed process stays readable, and its id taken. */
  readonly retainClosedMs: number;
  readonly doors: DoorTable;
  readonly backendFor: (policy: SandboxPolicy) => LocalBackend;
  /** On which sandbox contexts are to be enforced. */
  readonly machine: ContextMachine;
}

/** What the closed processes of a session may retain in all: the output of the oldest goes first. */
const maxRetainedOfClosed = 64 * 1024 * 1024;

/** Whose start has not been answered yet; ended as soon as it is there, if that was asked for meanwhile. */
interface Starting {
  isDoomed: boolean;
  readonly endsWithClient: boolean;
}

/** The processes of one session, by the ids that its client chose. */
export class ProcessTable {
  readonly #options: ProcessTableOptions;
  readonly #entries = new Map<string, ServedProcess | Starting>();
  /** By the order of their ends. */
  readonly #closed = new Map<string, ServedProcess>();
  #client: ServedConnection | undefined;
  #isEnded = false;

  constructor(options: ProcessTableOptions) {
    this.#options = options;
  }

  attach(client: ServedConnection): void {
    this.#client = client;
  }

  detach(): void {
    this.#client = undefined;
    this.#processes().forEach((process) => process.release());
    for (const [id, { endsWithClient }] of this.#entries) {
      if (endsWithClient) {
        this.kill(id);
      }
    }
  }

  async start(params: StartParams, trace?: Trace): Promise<ResultOf<'process/start'>> {
    const { processId, cordon } = params;
    if (this.#entries.has(processId)) {
      throw new RpcError(errorCodes.invalidRequest, `process ${processId} already exists`);
    }
    const starting: Starting = {
      isDoomed: this.#isEnded,
      endsWithClient: cordon?.streams !== undefined,
    };
    this.#entries.set(processId, starting);
    let streams: DoorConnection | undefined;
    try {
      streams = cordon?.streams === undefined ? undefined : this.#options.doors.take(cordon.streams);
      const process = await this.#open(params, streams, trace);
      this.#entries.set(processId, process);
      if (starting.isDoomed) {
        process.kill();
      }
      const { launcher, tty } = process.describe();
      this.#options.log.record('start', { processId, program: params.argv[0], launcher, tty });
      return {
        processId,
        sandboxType: process.sandboxType,
        ...(cordon !== undefined && { cordon: { launcher } }),
      };
    } catch (error) {
      this.#entries.delete(processId);
      streams?.destroy();
      this.#options.doors.forget(processId);
      const message = error instanceof Error ? error.message : String(error);
      this.#options.log.record('startFailed', { processId, program: params.argv[0], message });
      throw error;
    }
  }

  /** Undefined when there is none, `starting` while its start is not over. */
  find(processId: string): ServedProcess | 'starting' | undefined {
    const entry = this.#entries.get(processId);
    return entry instanceof ServedProcess || entry === undefined ? entry : 'starting';
  }

  list(): ResultOf<'cordon/process/list'> {
    return { processes: this.#processes().map((process) => process.describe()) };
  }

  /** Ends a process that runs, or is about to. False when there is none, or it has exited. */
  kill(processId: string): boolean {
    const entry = this.#entries.get(processId);
    if (entry instanceof ServedProcess) {
      const { isRunning } = entry;
      entry.kill();
      return isRunning;
    }
    if (entry !== undefined) {
      entry.isDoomed = true;
    }
    return entry !== undefined;
  }

  /** Kills everything; resolves when all of it is closed. Nothing can be started any more. */
  async end(): Promise<void> {
    this.#isEnded = true;
    for (const id of this.#entries.keys()) {
      this.kill(id);
    }
    await Promise.all(this.#processes().map(({ closed }) => closed));
  }

  #retain(id: string): void {
    const process = this.#entries.get(id);
    if (process instanceof ServedProcess) {
      this.#closed.set(id, process);
    }
    let bytes = [...this.#closed.values()].reduce((sum, { retainedBytes }) => sum + retainedBytes, 0);
    for (const oldest of this.#closed.values()) {
      if (bytes <= maxRetainedOfClosed) {
        break;
      }
      bytes -= oldest.retainedBytes;
      oldest.forget();
    }
    setTimeout(() => {
      this.#entries.delete(id);
      this.#closed.delete(id);
    }, this.#options.retainClosedMs).unref();
  }

  #processes(): ServedProcess[] {
    return [...this.#entries.values()].filter((entry) => entry instanceof ServedProcess);
  }

  async #open(
    params: StartParams,
    streams: DoorConnection | undefined,
    trace: Trace | undefined,
  ): Promise<ServedProcess> {
    const { processId: id, argv, arg0, tty, pipeStdin, cordon } = params;
    const managed = managedStartOf(params, () => this.#client, this.#options.machine);
    const cwd = pathOf(params.cwd);
    const confinement = await confinementOf(
      { sandbox: managed?.sandbox ?? params.sandbox, policy: cordon?.policy },
      { kind: 'process', cwd },
      this.#options.machine,
    );
    if (!confinement.ok) {
      throw confinement.error;
    }
    const { sandboxType } = confinement.value;
    const policy = { ...confinement.value.policy, ...managed?.clauses };
    const inherits = cordon?.inheritsEnvironment === true;
    const asked = requestedEnvironment(params, this.#options.parentEnv);
    const requested = managed?.environment(asked) ?? asked;
    const env = tty && !inherits ? { SHELL: this.#options.shell, ...requested } : requested;
    const program = argv[0] ?? '';
    const isMissing = !isUnsandboxed(policy) && !(await findExecutable(program, cwd, env['PATH'] ?? '')).ok;
    const span = startSpan('process', { parent: trace, attributes: { 'cordon.process': id } });
    const started = await this.#options.backendFor(policy).start({
      argv,
      cwd,
      env,
      policy,
      drainsFully: true,
      // Only our own clients, whose policies these are, hear of what is found after a run.
      closesWhenDrained: !cordon?.policy,
      ...(managed?.network !== undefined && { network: managed.network }),
      pipeStdin: pipeStdin && !tty,
      ...(cordon?.folder && { folder: cordon.folder }),
      ...(cordon?.door && { door: this.#options.doors.open(id, cordon.door.programs) }),
      ...(streams && { streams }),
      ...(inherits && { inheritsEnvironment: true }),
      ...(typeof arg0 === 'string' && { arg0 }),
      ...(tty && { tty: cordon?.size ?? defaultSize }),
    });
    if (!started.ok) {
      failSpan(span, started.error.message);
      span.end();
      throw startFailure(started.error);
    }
    const process = started.value;
    traceProcess(span, process);
    const startedAt = Date.now();
    return new ServedProcess({
      id,
      process,
      sandboxType,
      label: cordon?.label ?? '',
      pipeStdin: pipeStdin && !tty,
      endsWithClient: streams !== undefined,
      isMissing,
      client: () => this.#client,
      onClosed: () => {
        const { exitCode, signal, sandboxDenied } = process.exit ?? {};
        const ms = Date.now() - startedAt;
        this.#options.log.record('exit', { processId: id, exitCode, signal, sandboxDenied, ms });
        this.#options.doors.forget(id);
        this.#retain(id);
      },
    });
  }
}
