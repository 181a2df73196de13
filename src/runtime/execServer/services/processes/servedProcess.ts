import { longestTimerMs } from '../../../../base/longestTimer.ts';
import type { ExecEvent, ExitStatus, ReadResult } from '../../../exec/execBackend.ts';
import type { LocalProcess } from '../../../exec/localBackend.ts';
import type { CordonExit } from '../../protocol/cordon.ts';
import type { ParamsOf, ResultOf } from '../../protocol/methods.ts';
import type { WireSandboxType } from '../../protocol/processes.ts';
import type { ServedConnection } from '../../server/service.ts';
import { RecentWrites } from './recentWrites.ts';

export interface ServedProcessOptions {
  readonly id: string;
  readonly process: LocalProcess;
  readonly sandboxType: WireSandboxType;
  readonly label: string;
  readonly pipeStdin: boolean;
  /** Nobody needs it without the client of now, even if another one comes. */
  readonly endsWithClient: boolean;
  /** No such program that may be executed was found before the start, which a sandbox finds out by itself. */
  readonly isMissing: boolean;
  /** The client that the session has at the moment. */
  readonly client: () => ServedConnection | undefined;
  readonly onClosed: () => void;
}

/** The reference's exit code of a program that is missing inside a sandbox or may not be executed, and ours. */
const missingOnTheWire = 101;
const missingHere: readonly number[] = [126, 127];
/** The reference's exit code of whatever a signal ended on a terminal. */
const killedOnTerminal = 1;

/** In an answer, in bytes: as much as a pipe holds. */
const littleOutput = 64 * 1024;

/** How often, and for how long in all, it is tried to interrupt what has not begun yet. */
const attemptMs = 20;
const maxAttempts = 250;

/** One process in the words of the protocol: pushes its events to the client, and holds it while that is slow. */
export class ServedProcess {
  readonly #options: ServedProcessOptions;
  readonly #process: LocalProcess;
  readonly #writes = new RecentWrites();
  readonly #startedAt = Date.now();
  #label: string;
  #isInputOpen: boolean;
  #isHeld = false;

  constructor(options: ServedProcessOptions) {
    this.#options = options;
    this.#process = options.process;
    this.#label = options.label;
    this.#isInputOpen = options.process.isTty || options.pipeStdin;
    this.#process.onEvent((event) => this.#push(event));
  }

  get sandboxType(): WireSandboxType {
    return this.#options.sandboxType;
  }

  get endsWithClient(): boolean {
    return this.#options.endsWithClient;
  }

  get isRunning(): boolean {
    return this.#process.exit === undefined;
  }

  get retainedBytes(): number {
    return this.#process.retainedBytes;
  }

  forget(): void {
    this.#process.forget();
  }

  get closed(): Promise<void> {
    return this.#process.closed;
  }

  get exit(): ExitStatus | undefined {
    return this.#process.exit;
  }

  /** As `cordon/process/list` has it. */
  describe(): ResultOf<'cordon/process/list'>['processes'][number] {
    const { id, sandboxType, pipeStdin } = this.#options;
    return {
      processId: id,
      label: this.#label,
      sandboxType,
      launcher: this.#process.sandbox,
      tty: this.#process.isTty,
      pipeStdin,
      isRunning: this.isRunning,
      startedAt: this.#startedAt,
    };
  }

  setLabel(label: string): void {
    this.#label = label;
  }

  /** An answer with much output is made when there is room for it. */
  async read(
    { afterSeq, maxBytes, waitMs }: ParamsOf<'process/read'>,
    signal: AbortSignal,
    takeRoom: (bytes: number) => Promise<void>,
  ): Promise<ResultOf<'process/read'>> {
    const request = { afterSeq: afterSeq ?? 0, ...(typeof maxBytes === 'number' && { maxBytes }) };
    const found = await this.#process.read({ ...request, waitMs: waitMs ?? 0, signal });
    const bytes = found.chunks.reduce((sum, { chunk }) => sum + chunk.byteLength, 0);
    if (bytes <= littleOutput) {
      return this.#answerOf(found);
    }
    await takeRoom(bytes);
    // Whoever waits holds no output.
    return this.#answerOf(await this.#process.read({ ...request, maxBytes: bytes }));
  }

  #answerOf(read: ReadResult): ResultOf<'process/read'> {
    const exit = read.exit && this.#wireExit(read.exit);
    const cordon = read.closed ? this.#atTheEnd() : exit?.cordon;
    return {
      chunks: read.chunks.map(({ seq, stream, chunk }) => ({ seq, stream, chunk: base64(chunk) })),
      nextSeq: read.nextSeq,
      exited: exit !== undefined,
      exitCode: exit?.exitCode ?? null,
      closed: read.closed,
      failure: null,
      sandboxDenied: exit?.sandboxDenied ?? false,
      ...(cordon !== undefined && { cordon }),
    };
  }

  /** Answers when the process has read so much that more can follow. */
  async write(writeId: string, bytes: Uint8Array): Promise<ResultOf<'process/write'>['status']> {
    if (!this.#isInputOpen) {
      return 'stdinClosed';
    }
    if (this.#writes.note(writeId)) {
      this.#process.write(bytes);
      await this.#process.whenWritable();
    }
    return 'accepted';
  }

  endInput(): void {
    this.#isInputOpen = this.#process.isTty;
    this.#process.endInput();
  }

  resize(size: { readonly columns: number; readonly rows: number }): void {
    this.#process.resize(size);
  }

  signal(name: NodeJS.Signals): boolean {
    return this.#process.signal(name);
  }

  /** Also when the command is only about to begin inside its sandbox, where nothing can be reached yet. */
  interrupt(attemptsLeft = maxAttempts): void {
    if (this.#process.signal('SIGINT') || !this.isRunning) {
      return;
    }
    if (attemptsLeft === 0) {
      this.#process.kill();
    } else {
      setTimeout(() => this.interrupt(attemptsLeft - 1), attemptMs);
    }
  }

  kill(): void {
    this.#process.kill();
  }

  terminate(graceMs: number): void {
    void this.#process.terminate(Math.min(graceMs, longestTimerMs));
  }

  /** Nobody is slow any more: what comes now is retained, not sent. */
  release(): void {
    if (this.#isHeld) {
      this.#isHeld = false;
      this.#process.resume();
    }
  }

  #push(event: ExecEvent): void {
    const client = this.#options.client();
    const processId = this.#options.id;
    const { seq } = event;
    switch (event.kind) {
      case 'output':
        client?.notify('process/output', {
          processId,
          seq,
          stream: event.stream,
          chunk: base64(event.chunk),
        });
        this.#holdFor(client);
        break;
      case 'exited':
        client?.notify('process/exited', { processId, seq, ...this.#wireExit(event) });
        break;
      case 'closed': {
        const cordon = this.#atTheEnd();
        client?.notify('process/closed', { processId, seq, ...(cordon !== undefined && { cordon }) });
        this.#options.onClosed();
        break;
      }
      case 'gap':
        // Only what came over a wire can have got lost.
        break;
    }
  }

  #holdFor(client: ServedConnection | undefined): void {
    if (client === undefined || client.isWritable || this.#isHeld) {
      return;
    }
    this.#isHeld = true;
    this.#process.pause();
    void client.whenWritable().then(() => this.release());
  }

  #wireExit(status: ExitStatus): {
    readonly exitCode: number;
    readonly sandboxDenied: boolean;
    readonly cordon?: CordonExit;
  } {
    const { signal, sandboxDenied, blockedRequests } = status;
    const exitCode = this.#wireExitCode(status);
    const cordon: CordonExit = {
      ...(exitCode !== status.exitCode && { exitCode: status.exitCode }),
      ...(signal !== undefined && { signal }),
      ...(blockedRequests !== undefined && { blockedRequests: [...blockedRequests] }),
    };
    return { exitCode, sandboxDenied, ...(Object.keys(cordon).length > 0 && { cordon }) };
  }

  #wireExitCode({ exitCode, signal }: ExitStatus): number {
    if (this.#process.isTty && signal !== undefined) {
      return killedOnTerminal;
    }
    return this.#options.isMissing && missingHere.includes(exitCode) ? missingOnTheWire : exitCode;
  }

  /** All that is known once it is closed; undefined when that is nothing. */
  #atTheEnd(): CordonExit | undefined {
    const { exit, findings, refusals } = this.#process;
    const cordon: CordonExit = {
      ...(exit && this.#wireExit(exit).cordon),
      ...(refusals.requests.length > 0 && { blockedRequests: [...refusals.requests] }),
      ...(refusals.calls.length > 0 && { deniedCalls: [...refusals.calls] }),
      ...(findings.length > 0 && { findings: [...findings] }),
    };
    return Object.keys(cordon).length > 0 ? cordon : undefined;
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
