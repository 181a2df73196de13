import type { Disposable } from '../../base/disposable.ts';
import { Emitter } from '../../base/event.ts';
import type { Finding } from '../../sandbox/aftermath/finding.ts';
import type { Denial } from '../../sandbox/denials/denial.ts';
import { describeDenials } from '../../sandbox/describeDenial.ts';
import { anyPerson, thisPerson } from '../../sandbox/denials/person.ts';
import { canonicalize } from '../../sandbox/policy/nodeMachine.ts';
import type { SandboxPolicy } from '../../sandbox/policy/policy.ts';
import { isUnsandboxed } from '../../sandbox/policy/policy.ts';
import type { SessionState, SessionView } from '../../terminal/sessionView.ts';
import type {
  ExecEvent,
  ExecProcess,
  ExitStatus,
  ReadResult,
  TerminalSize,
  WriteStatus,
} from '../exec/execBackend.ts';
import { localName } from '../environments/environment.ts';
import type { Root } from '../roots.ts';
import { HeadTailBuffer } from './headTailBuffer.ts';
import type { Screen, ScreenOptions } from './screen.ts';
import type { SessionRecord } from './sessionRecord.ts';
import { writeRecord } from './sessionRecord.ts';
import type { AnswerOutput } from './truncateOutput.ts';
import { truncateOutput } from './truncateOutput.ts';
import { decodeUtf8, incompleteTailLength } from './utf8.ts';

/** How the output of an answer is given: as the screen a person would see, or as the raw stream. */
export const outputForms = ['screen', 'stream'] as const;
export type OutputForm = (typeof outputForms)[number];

/** Wide enough that lines of piped output do not wrap. */
const pipeScreenSize: TerminalSize = { columns: 1_000, rows: 50 };
const lostOutput = '[earlier output is no longer kept]\n';
/** How much of the newest output a denial is explained from. */
const denialTailBytes = 64 * 1024;
/** In place of output that did not arrive. */
const gapNotice = Buffer.from(
  '\r\n[some output is missing here: the connection to the machine broke, and it keeps only the newest MiB]\r\n',
);

/** What is at a path of another machine is not known here: it is taken as it is named, and for anybody's. */
const elsewhere = { canonicalize: (path: string) => path, person: anyPerson } as const;

export interface SessionInfo {
  readonly record: SessionRecord;
  /** Of a process that another program has started. */
  readonly retained?: ReadResult;
  /** What an agent can do about a denial under the session's policy, in place of the denial's own hint. */
  readonly adviseOn?: (denial: Denial, policy: SandboxPolicy) => string | undefined;
  /** Present for a session with a terminal. */
  readonly createScreen?: (options: Pick<ScreenOptions, 'onReply'>) => Screen;
}

/** One running or finished process with its output; feeds the model's answers and any number of viewers. */
export class Session implements SessionView {
  readonly id: number;
  readonly commandLine: string;
  readonly cwd: string;
  readonly root: Root;
  readonly policy: SandboxPolicy;
  readonly owner: 'agent' | 'person';
  readonly environment: string;
  readonly startedAt: Date;
  readonly #adviseOn: SessionInfo['adviseOn'];
  readonly #process: ExecProcess;
  readonly #events: Disposable;
  #record: SessionRecord;
  readonly #output = new Emitter<Uint8Array>();
  readonly #didClose = new Emitter<void>();
  readonly #didChangeState = new Emitter<void>();
  readonly onDidOutput = this.#output.event;
  readonly onDidClose = this.#didClose.event;
  readonly onDidChangeState = this.#didChangeState.event;
  readonly #pending = new HeadTailBuffer();
  readonly #screen: Screen | undefined;
  /** Bytes of a character whose rest has not arrived: they wait for the next answer. */
  #heldBack: Uint8Array;
  #lastSeq = 0;
  /** What the program asked of its terminal before it was taken over was asked of another one. */
  #isReplaying = false;
  #state: SessionState = { kind: 'running' };
  #isClosed = false;
  #denials: readonly Denial[] = [];
  readonly #whenClosed = Promise.withResolvers<void>();

  constructor(process: ExecProcess, info: SessionInfo) {
    const { record } = info;
    this.id = record.id;
    this.commandLine = record.commandLine;
    this.cwd = record.cwd;
    this.root = record.root;
    this.policy = record.policy;
    this.owner = record.owner;
    this.environment = record.environment;
    this.startedAt = new Date(record.startedAt);
    this.#record = record;
    this.#heldBack = Buffer.from(record.answered.heldBack, 'base64');
    this.#adviseOn = info.adviseOn;
    this.#process = process;
    this.#screen = info.createScreen?.({
      // A viewer's terminal answers the program's queries itself; two answers would read as typing.
      onReply: (reply) => void (this.#isReplaying || this.#output.hasListeners || this.write(reply)),
    });
    this.#events = process.onEvent((event) => this.#accept(event));
    if (info.retained !== undefined) {
      this.#replay(info.retained);
    }
  }

  get isTty(): boolean {
    return this.#process.isTty;
  }

  get isUnsandboxed(): boolean {
    return isUnsandboxed(this.policy);
  }

  get state(): SessionState {
    return this.#state;
  }

  /** True when the process has exited and its output is drained. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  get closed(): Promise<void> {
    return this.#whenClosed.promise;
  }

  /** Whether its process outlives this program, which can take it over when it starts again. */
  get isSurvivor(): boolean {
    return this.#process.relabel !== undefined;
  }

  /** What another program would need to go on with it. */
  get record(): SessionRecord {
    return this.#record;
  }

  /** Keeps for whoever takes it over what only this program knows. */
  note(
    changes: Partial<Pick<SessionRecord, 'answered' | 'ended' | 'isForgotten' | 'isShown' | 'size'>>,
  ): void {
    this.#record = { ...this.#record, ...changes };
    this.#process.relabel?.(writeRecord(this.#record));
  }

  /** What made the command fail, most likely; undefined while it runs, and when it succeeded. */
  denial(): Denial | undefined {
    return this.#state.kind === 'exited' && this.#state.exitCode !== 0 ? this.#denials[0] : undefined;
  }

  /** What the sandbox stopped, most certain first, also where the command went on without it; none while it runs. */
  denials(): readonly Denial[] {
    return this.#denials;
  }

  /** What to do about a denial. */
  adviceOn(denial: Denial): string {
    return this.#adviseOn?.(denial, this.policy) ?? denial.hint;
  }

  /** What the command left behind and the sandbox disarmed; none while it runs. */
  get findings(): readonly Finding[] {
    return this.#process.findings;
  }

  write(data: string): boolean {
    return this.send(Buffer.from(data)) === 'accepted';
  }

  send(bytes: Uint8Array): WriteStatus {
    return this.#process.write(bytes);
  }

  interrupt(): boolean {
    return this.#process.signal('SIGINT');
  }

  resize(size: TerminalSize): void {
    if (this.#screen !== undefined && size.columns > 0 && size.rows > 0) {
      this.#screen.resize(size);
      this.#process.resize(size);
      this.note({ size });
    }
  }

  async terminate(): Promise<void> {
    await this.#process.terminate();
    await this.closed;
  }

  async replay(): Promise<string> {
    if (this.#screen !== undefined) {
      return this.#screen.serialize();
    }
    const { chunks, gap } = await this.#process.read({ afterSeq: 0 });
    const text = decodeUtf8(Buffer.concat(chunks.map(({ chunk }) => chunk)));
    return gap === undefined ? text : `${lostOutput}${text}`;
  }

  /** Output since the last answer, in the form asked for, cut to the token budget. */
  async takeAnswer(form: OutputForm, maxTokens: number): Promise<AnswerOutput> {
    const { head, tail, omittedBytes } = this.#pending.take();
    const collected = Buffer.concat([this.#heldBack, head, tail]);
    const heldBack = this.#isClosed ? 0 : incompleteTailLength(collected);
    this.#heldBack = collected.subarray(collected.byteLength - heldBack);
    const bytes = collected.subarray(0, collected.byteLength - heldBack);
    const answered = { seq: this.#lastSeq, heldBack: Buffer.from(this.#heldBack).toString('base64') };
    this.note({ answered });
    if (form === 'stream') {
      return truncateOutput(bytes, maxTokens, omittedBytes);
    }
    const text = await (this.#screen?.takeText() ?? renderPipeOutput(bytes));
    return {
      ...truncateOutput(Buffer.from(text), maxTokens),
      originalTokens: truncateOutput(bytes, 0, omittedBytes).originalTokens,
    };
  }

  /** Frees the screen, and follows the process no more; it goes on if it runs. */
  dispose(): void {
    this.#events.dispose();
    this.#screen?.dispose();
    this.#output.dispose();
    this.#didClose.dispose();
    this.#didChangeState.dispose();
  }

  #accept(event: ExecEvent): void {
    this.#lastSeq = event.seq;
    switch (event.kind) {
      case 'output':
        this.#show(event.chunk);
        break;
      case 'gap':
        this.#show(gapNotice);
        break;
      case 'exited':
        this.#exited(event);
        break;
      case 'closed':
        void this.#finish();
        break;
    }
  }

  #exited({ exitCode, signal, sandboxDenied, blockedRequests, failure }: ExitStatus): void {
    this.#state = {
      kind: 'exited',
      exitCode,
      ...(signal !== undefined && { signal }),
      sandboxDenied,
      ...(blockedRequests !== undefined && { blockedRequests }),
      ...(failure !== undefined && { failure }),
      durationMs: this.#record.ended?.durationMs ?? Date.now() - this.startedAt.getTime(),
    };
  }

  /** Makes good for what happened before this program: the screen gets all of it, the next answer what was not told. */
  #replay({ chunks, nextSeq, gap, exit, closed }: ReadResult): void {
    const toldSeq = this.#record.answered.seq;
    const isTold = ({ seq }: { readonly seq: number }): boolean => seq <= toldSeq;
    this.#isReplaying = true;
    for (const { chunk } of chunks.filter(isTold)) {
      this.#screen?.write(chunk);
    }
    if (toldSeq > 0) {
      this.#screen?.markShown();
    }
    if (gap !== undefined && gap.toSeq > toldSeq) {
      this.#pending.push(Buffer.from(lostOutput));
    }
    for (const { chunk } of chunks.filter((told) => !isTold(told))) {
      this.#pending.push(chunk);
      this.#screen?.write(chunk);
    }
    this.#screen?.afterParsing(() => (this.#isReplaying = false));
    this.#lastSeq = nextSeq - 1;
    if (exit !== undefined) {
      this.#exited(exit);
    }
    if (closed) {
      void this.#finish();
    }
  }

  #show(chunk: Uint8Array): void {
    this.#pending.push(chunk);
    this.#screen?.write(chunk);
    this.#output.fire(chunk);
  }

  async #finish(): Promise<void> {
    try {
      await this.#explainDenials();
    } finally {
      this.#isClosed = true;
      if (this.#state.kind === 'exited' && this.#record.ended === undefined) {
        this.note({ ended: { durationMs: this.#state.durationMs } });
      }
      this.#whenClosed.resolve();
      this.#didClose.fire();
      this.#didChangeState.fire();
    }
  }

  async #explainDenials(): Promise<void> {
    if (
      this.#state.kind !== 'exited' ||
      this.#state.failure !== undefined ||
      this.#process.sandbox === 'none'
    ) {
      return;
    }
    const { exitCode } = this.#state;
    const { requests, calls } = this.#process.refusals;
    this.#denials = describeDenials({
      output: exitCode === 0 ? '' : await this.#newestOutput(),
      policy: this.policy,
      exitCode,
      cwd: this.cwd,
      ...(this.environment === localName ? { canonicalize, person: thisPerson } : elsewhere),
      blockedRequests: requests,
      deniedCalls: calls,
    });
  }

  async #newestOutput(): Promise<string> {
    const { chunks } = await this.#process.read({ afterSeq: 0 });
    const all = Buffer.concat(chunks.map(({ chunk }) => chunk));
    return decodeUtf8(all.subarray(-denialTailBytes));
  }
}

async function renderPipeOutput(bytes: Uint8Array): Promise<string> {
  const { Screen } = await import('./screen.ts');
  const screen = new Screen({ size: pipeScreenSize, convertEol: true });
  screen.write(bytes);
  const text = await screen.takeText();
  screen.dispose();
  return text;
}
