import { constants } from 'node:os';
import type { Event } from '../../../base/event.ts';
import type { Log } from '../../../base/log.ts';
import type { Finding } from '../../../sandbox/aftermath/finding.ts';
import type { SandboxType } from '../../../sandbox/sandboxManager.ts';
import { EventWindow } from '../../exec/eventWindow.ts';
import type {
  ExecEvent,
  ExecProcess,
  ExitStatus,
  ReadRequest,
  ReadResult,
  Refusals,
  TerminalSize,
  WriteStatus,
} from '../../exec/execBackend.ts';
import type { CordonExit } from '../protocol/cordon.ts';
import type { NotificationParams, ResultOf } from '../protocol/methods.ts';
import { EventOrder } from './eventOrder.ts';
import type { FetchedEvents, OrderedEvent, WireEvent } from './eventOrder.ts';
import type { ExecClient } from './execClient.ts';
import { ConnectionLost } from './execClient.ts';
import { InputQueue } from './inputQueue.ts';
import type { ClientTiming } from './timing.ts';

const defaultGraceMs = 2_000;
/** How long after a kill its effect may take before the process counts as lost. */
const killPatienceMs = 15_000;
/** So often a number that the server should have is asked for before it is given up. */
const mostTries = 3;

export interface RemoteProcessOptions {
  readonly client: ExecClient;
  readonly processId: string;
  readonly isTty: boolean;
  readonly hasInput: boolean;
  readonly log: Log;
  readonly timing: ClientTiming;
  /** Nothing of it will arrive any more, or matter. */
  readonly onGone: () => void;
}

/**
 * A process on the other side of an {@link ExecClient}. Its events are ordered, and what is missing is fetched; readers
 * read here. It ends in every case: a process of which nobody can know any more ends with a failure.
 */
export class RemoteProcess implements ExecProcess {
  readonly isTty: boolean;
  readonly closed: Promise<void>;
  readonly onEvent: Event<ExecEvent>;
  readonly relabel?: (label: string) => void;
  readonly #options: RemoteProcessOptions;
  readonly #window = new EventWindow();
  readonly #order: EventOrder;
  readonly #input: InputQueue;
  readonly #whenClosed = Promise.withResolvers<void>();
  #sandbox: SandboxType = 'none';
  #findings: readonly Finding[] = [];
  #refusals: Refusals = { requests: [], calls: [] };
  #repairTimer: NodeJS.Timeout | undefined;
  #drainTimer: NodeJS.Timeout | undefined;
  #quietTimer: NodeJS.Timeout | undefined;
  #heardAt = performance.now();
  #fetching: Promise<void> | undefined;
  #tries = 0;
  #isLegacyExitAsked = false;
  /** What happened before whoever started it could listen. */
  #held: (() => void)[] | undefined = [];

  constructor(options: RemoteProcessOptions) {
    this.#options = options;
    this.isTty = options.isTty;
    this.closed = this.#whenClosed.promise;
    this.onEvent = this.#window.onEvent;
    this.#order = new EventOrder((event) => this.#accept(event));
    const { client, processId } = options;
    if (client.isCordon) {
      this.relabel = (label) => this.#tell(client.call('cordon/process/label', { processId, label }));
    }
    this.#input = new InputQueue(options, (problem) => options.log.warn(problem));
  }

  get sandbox(): SandboxType {
    return this.#sandbox;
  }

  get exit(): ExitStatus | undefined {
    return this.#window.exit;
  }

  get findings(): readonly Finding[] {
    return this.#findings;
  }

  get refusals(): Refusals {
    return this.#refusals;
  }

  /**
   * It runs: from here on its silence is watched. Nothing is pushed before the current turn ends, in which whoever
   * gets the process subscribes.
   */
  started(sandbox: SandboxType): void {
    this.#sandbox = sandbox;
    setImmediate(() => this.open());
    if (!this.#window.isClosed) {
      this.#quietTimer = setInterval(() => this.#checkSilence(), this.#options.timing.quietMs);
      this.#quietTimer.unref();
    }
  }

  /** Lets its events through, to listeners if there are any. */
  open(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const happen of held) {
      happen();
    }
  }

  async read(request: ReadRequest): Promise<ReadResult> {
    return this.#window.read(request);
  }

  readNow(request: ReadRequest): ReadResult {
    return this.#window.readNow(request);
  }

  write(bytes: Uint8Array): WriteStatus {
    if (this.exit !== undefined) {
      return 'exited';
    }
    return this.#input.write(bytes) ? 'accepted' : 'stdin-closed';
  }

  endInput(): void {
    this.#input.end();
  }

  resize({ columns, rows }: TerminalSize): void {
    // Others than Cordon's servers have no way to say it.
    if (this.isTty && this.exit === undefined && this.#options.client.isCordon) {
      const { client, processId } = this.#options;
      this.#tell(client.call('cordon/process/resize', { processId, columns, rows }));
    }
  }

  signal(name: NodeJS.Signals): boolean {
    const { client, processId } = this.#options;
    if (this.exit !== undefined) {
      return false;
    }
    if (client.isCordon) {
      this.#tell(client.call('cordon/process/signal', { processId, signal: name }));
      return true;
    }
    if (name === 'SIGINT') {
      this.#tell(client.call('process/signal', { processId, signal: 'interrupt' }));
    } else if (name === 'SIGKILL') {
      this.#tell(client.call('process/terminate', { processId }));
    }
    return name === 'SIGINT' || name === 'SIGKILL';
  }

  async terminate(graceMs: number = defaultGraceMs): Promise<void> {
    const { client, processId } = this.#options;
    if (client.isCordon) {
      // After the exit as well: what was left in the background goes with its leader.
      this.#tell(client.call('cordon/process/terminate', { processId, graceMs }));
    } else {
      // Without grace: an interrupt first would end the leader only, and nothing reaches its children after that.
      this.#tell(client.call('process/terminate', { processId }));
    }
    if (!(await this.#closedWithin(graceMs + killPatienceMs))) {
      this.fail('it did not end when it was killed');
    }
  }

  output({ seq, stream, chunk }: NotificationParams<'process/output'>): void {
    this.#push({ kind: 'output', seq, stream, chunk: Buffer.from(chunk, 'base64') });
  }

  exited({ seq, exitCode, sandboxDenied, cordon }: NotificationParams<'process/exited'>): void {
    if (sandboxDenied == null) {
      void this.#askForDenial(seq, exitCode);
    } else {
      this.#push({ kind: 'exited', seq, exitCode, sandboxDenied, cordon });
    }
  }

  closing({ seq, cordon }: NotificationParams<'process/closed'>): void {
    this.#push({ kind: 'closed', seq, cordon });
  }

  /** Fetches what came after the last event that arrived: after a new connection, or when something is missing. */
  async fetch(): Promise<void> {
    this.#fetching ??= this.#fetchNow().finally(() => {
      this.#fetching = undefined;
      this.#watch();
    });
    return this.#fetching;
  }

  /** Ends it here, because nobody can know how it goes on there. */
  fail(reason: string): void {
    this.#whenOpen(() => {
      this.#order.skip();
      if (this.#window.isClosed) {
        return;
      }
      if (this.exit === undefined) {
        this.#window.exited({ exitCode: 255, sandboxDenied: false, failure: reason });
      }
      this.#finish();
    });
  }

  #whenOpen(happen: () => void): void {
    if (this.#held === undefined) {
      happen();
    } else {
      this.#held.push(happen);
    }
  }

  #push(event: WireEvent): void {
    this.#heardAt = performance.now();
    if (this.#held === undefined) {
      this.#order.push(event);
      this.#watch();
    } else {
      this.#held.push(() => this.#push(event));
    }
  }

  async #fetchNow(): Promise<void> {
    const { client, processId } = this.#options;
    const before = this.#order.lastSeq;
    try {
      const result = await client.call('process/read', { processId, afterSeq: before });
      this.#heardAt = performance.now();
      this.#tries = this.#order.lastSeq > before ? 0 : this.#tries + 1;
      this.#whenOpen(() => {
        if (this.#order.merge(fetchedOf(result), this.#tries >= mostTries)) {
          this.#tries = 0;
        }
      });
      if (result.failure != null && this.exit === undefined) {
        this.fail(`the machine that runs it says: ${result.failure}`);
      }
    } catch (cause) {
      // When the session is lost, everything of it ends anyway.
      if (!(cause instanceof ConnectionLost)) {
        this.fail(
          `the machine that runs it no longer knows it (${cause instanceof Error ? cause.message : String(cause)})`,
        );
      }
    }
  }

  /** The one read that the protocol wants for servers that do not say it with the exit. */
  async #askForDenial(seq: number, exitCode: number): Promise<void> {
    if (this.#isLegacyExitAsked || this.#order.hasExit) {
      return;
    }
    this.#isLegacyExitAsked = true;
    const { client, processId } = this.#options;
    let sandboxDenied = false;
    try {
      const result = await client.call('process/read', { processId, afterSeq: seq });
      sandboxDenied = result.sandboxDenied ?? false;
    } catch (cause) {
      this.#options.log.warn(`Nobody knows whether the sandbox stopped ${processId}: ${String(cause)}`);
    }
    this.#push({ kind: 'exited', seq, exitCode, sandboxDenied });
  }

  #accept(event: OrderedEvent): void {
    if (this.#window.isClosed) {
      return;
    }
    switch (event.kind) {
      case 'output':
        this.#window.output(event.stream, event.chunk);
        break;
      case 'gap':
        this.#options.log.warn(
          `Events ${event.fromSeq} to ${event.seq} of process ${this.#options.processId} are lost.`,
        );
        this.#window.lost(event.seq);
        break;
      case 'exited':
        this.#learn(event.cordon);
        this.#window.exited(exitOf(event));
        break;
      case 'closed':
        this.#learn(event.cordon);
        if (this.exit === undefined) {
          this.#window.exited({
            exitCode: 255,
            sandboxDenied: false,
            failure: 'the machine that ran it did not say how it ended',
          });
        }
        this.#finish();
        break;
    }
  }

  #learn(told: CordonExit | undefined): void {
    this.#refusals = {
      requests: told?.blockedRequests ?? this.#refusals.requests,
      calls: told?.deniedCalls ?? this.#refusals.calls,
    };
    this.#findings = told?.findings ?? this.#findings;
  }

  #finish(): void {
    clearTimeout(this.#repairTimer);
    clearTimeout(this.#drainTimer);
    clearInterval(this.#quietTimer);
    this.#input.close();
    this.#window.closed();
    this.#whenClosed.resolve();
    this.#options.onGone();
  }

  /** Sees to it that what is missing is fetched, and that an exit is followed by the end. */
  #watch(): void {
    const { repairMs, drainMs } = this.#options.timing;
    if (this.#window.isClosed) {
      return;
    }
    if (!this.#order.isWaiting) {
      clearTimeout(this.#repairTimer);
      this.#repairTimer = undefined;
    } else if (this.#repairTimer === undefined && this.#fetching === undefined) {
      this.#repairTimer = setTimeout(() => {
        this.#repairTimer = undefined;
        void this.fetch();
      }, repairMs);
    }
    if (this.exit !== undefined) {
      this.#drainTimer ??= setTimeout(() => void this.#endDraining(), drainMs);
    }
  }

  /** A child in the background holds its output open; or the last event was lost. */
  async #endDraining(): Promise<void> {
    await this.fetch();
    if (!this.#window.isClosed && this.#options.client.state.kind !== 'lost') {
      this.#order.skip();
      this.#finish();
    }
  }

  /** Events at the end of a stream that got lost leave no gap by which they are missed. */
  #checkSilence(): void {
    const { client, timing } = this.#options;
    if (client.state.kind === 'connected' && performance.now() - this.#heardAt >= timing.quietMs) {
      void this.fetch();
    }
  }

  async #closedWithin(ms: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), ms);
    const isClosed = await Promise.race([this.closed.then(() => true), promise]);
    clearTimeout(timer);
    return isClosed;
  }

  /** What needs no answer: a failure of it is only worth a line in the log. */
  #tell(call: Promise<unknown>): void {
    call.catch((cause: unknown) => this.#options.log.debug(`exec-server: ${String(cause)}`));
  }
}

function exitOf({ exitCode, sandboxDenied, cordon }: Extract<OrderedEvent, { kind: 'exited' }>): ExitStatus {
  const signal = cordon?.signal;
  const number = signal && constants.signals[signal];
  const blockedRequests = cordon?.blockedRequests ?? [];
  return {
    // The protocol has 1 for every signal that ends a process with a terminal.
    exitCode: cordon?.exitCode ?? (number === undefined ? exitCode : 128 + number),
    ...(signal !== undefined && { signal }),
    sandboxDenied,
    ...(blockedRequests.length > 0 && { blockedRequests }),
  };
}

function fetchedOf(result: ResultOf<'process/read'>): FetchedEvents {
  const { cordon } = result;
  return {
    chunks: result.chunks.map(({ chunk, ...rest }) => ({ ...rest, chunk: Buffer.from(chunk, 'base64') })),
    nextSeq: result.nextSeq,
    ...(result.exited && {
      exit: { exitCode: result.exitCode ?? 255, sandboxDenied: result.sandboxDenied ?? false, cordon },
    }),
    ...(result.closed && { closed: { cordon } }),
  };
}
