import { Emitter } from '../../base/event.ts';
import type { Finding } from '../../sandbox/aftermath/finding.ts';
import type { Denial } from '../../sandbox/denials/denial.ts';
import { describeDenials } from '../../sandbox/describeDenial.ts';
import { thisPerson } from '../../sandbox/denials/person.ts';
import { canonicalize } from '../../sandbox/policy/nodeMachine.ts';
import type { SandboxPolicy } from '../../sandbox/policy/policy.ts';
import { isUnsandboxed } from '../../sandbox/policy/policy.ts';
import type { SessionState, SessionView } from '../../terminal/sessionView.ts';
import type { ExecEvent, ExecProcess, TerminalSize, WriteStatus } from '../exec/execBackend.ts';
import type { Root } from '../roots.ts';
import { HeadTailBuffer } from './headTailBuffer.ts';
import type { Screen, ScreenOptions } from './screen.ts';
import type { AnswerOutput } from './truncateOutput.ts';
import { truncateOutput } from './truncateOutput.ts';
import { decodeUtf8, incompleteTailLength } from './utf8.ts';

/** How the output of an answer is given: as the screen a person would see, or as the raw stream. */
export const outputForms = ['screen', 'stream'] as const;
export type OutputForm = (typeof outputForms)[number];

/** Wide enough that lines of piped output do not wrap. */
const pipeScreenSize: TerminalSize = { columns: 1_000, rows: 50 };
/** How much of the newest output a denial is explained from. */
const denialTailBytes = 64 * 1024;

export interface SessionInfo {
  readonly id: number;
  readonly commandLine: string;
  readonly cwd: string;
  readonly root: Root;
  readonly policy: SandboxPolicy;
  readonly owner: 'agent' | 'person';
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
  readonly startedAt = new Date();
  readonly #adviseOn: SessionInfo['adviseOn'];
  readonly #process: ExecProcess;
  readonly #started = performance.now();
  readonly #output = new Emitter<Uint8Array>();
  readonly #didClose = new Emitter<void>();
  readonly #didChangeState = new Emitter<void>();
  readonly onDidOutput = this.#output.event;
  readonly onDidClose = this.#didClose.event;
  readonly onDidChangeState = this.#didChangeState.event;
  readonly #pending = new HeadTailBuffer();
  readonly #screen: Screen | undefined;
  /** Bytes of a character whose rest has not arrived: they wait for the next answer. */
  #heldBack: Uint8Array = new Uint8Array();
  #state: SessionState = { kind: 'running' };
  #isClosed = false;
  #denials: readonly Denial[] = [];
  readonly #whenClosed = Promise.withResolvers<void>();

  constructor(process: ExecProcess, info: SessionInfo) {
    this.id = info.id;
    this.commandLine = info.commandLine;
    this.cwd = info.cwd;
    this.root = info.root;
    this.policy = info.policy;
    this.owner = info.owner;
    this.#adviseOn = info.adviseOn;
    this.#process = process;
    this.#screen = info.createScreen?.({
      // A viewer's terminal answers the program's queries itself; two answers would read as typing.
      onReply: (reply) => void (this.#output.hasListeners || this.write(reply)),
    });
    process.onEvent((event) => this.#accept(event));
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
    return gap === undefined ? text : `[earlier output is no longer kept]\n${text}`;
  }

  /** Output since the last answer, in the form asked for, cut to the token budget. */
  async takeAnswer(form: OutputForm, maxTokens: number): Promise<AnswerOutput> {
    const { head, tail, omittedBytes } = this.#pending.take();
    const collected = Buffer.concat([this.#heldBack, head, tail]);
    const heldBack = this.#isClosed ? 0 : incompleteTailLength(collected);
    this.#heldBack = collected.subarray(collected.byteLength - heldBack);
    const bytes = collected.subarray(0, collected.byteLength - heldBack);
    if (form === 'stream') {
      return truncateOutput(bytes, maxTokens, omittedBytes);
    }
    const text = await (this.#screen?.takeText() ?? renderPipeOutput(bytes));
    return {
      ...truncateOutput(Buffer.from(text), maxTokens),
      originalTokens: truncateOutput(bytes, 0, omittedBytes).originalTokens,
    };
  }

  /** Frees the screen; for finished sessions that nobody looks at any more. */
  dispose(): void {
    this.#screen?.dispose();
    this.#output.dispose();
    this.#didClose.dispose();
    this.#didChangeState.dispose();
  }

  #accept(event: ExecEvent): void {
    switch (event.kind) {
      case 'output':
        this.#pending.push(event.chunk);
        this.#screen?.write(event.chunk);
        this.#output.fire(event.chunk);
        break;
      case 'exited':
        this.#state = {
          kind: 'exited',
          exitCode: event.exitCode,
          ...(event.signal !== undefined && { signal: event.signal }),
          sandboxDenied: event.sandboxDenied,
          ...(event.blockedRequests !== undefined && { blockedRequests: event.blockedRequests }),
          durationMs: performance.now() - this.#started,
        };
        break;
      case 'closed':
        void this.#finish();
        break;
    }
  }

  async #finish(): Promise<void> {
    try {
      await this.#explainDenials();
    } finally {
      this.#isClosed = true;
      this.#whenClosed.resolve();
      this.#didClose.fire();
      this.#didChangeState.fire();
    }
  }

  async #explainDenials(): Promise<void> {
    if (this.#state.kind !== 'exited' || this.#process.sandbox === 'none') {
      return;
    }
    const { exitCode } = this.#state;
    const { requests, calls } = this.#process.refusals;
    this.#denials = describeDenials({
      output: exitCode === 0 ? '' : await this.#newestOutput(),
      policy: this.policy,
      exitCode,
      cwd: this.cwd,
      canonicalize,
      person: thisPerson,
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
