import * as vscode from 'vscode';
import { DisposableStore } from '../base/disposable.ts';
import { commandFinished, commandStarted } from './osc633.ts';
import { OutputPacer } from './outputPacer.ts';
import type { SessionView } from './sessionView.ts';
import { exitSentence, formatBytes, terminalName } from './sessionWords.ts';
import { TerminalText } from './terminalText.ts';

export interface PseudoterminalOptions {
  readonly nonce: string;
  /** Whether this terminal, of several, answers what the program asks of its terminal. */
  answersQueries(): boolean;
  /** What the sandbox stopped or put right, once the session has ended. */
  sandboxSentences(): readonly string[];
}

/** Shows a session in a VS Code terminal: replays what was retained, then follows live, at a bounded pace. */
export class SessionPseudoterminal implements vscode.Pseudoterminal {
  readonly #session: SessionView;
  readonly #options: PseudoterminalOptions;
  readonly #store = new DisposableStore();
  readonly #didWrite = this.#store.add(new vscode.EventEmitter<string>());
  readonly #didClose = this.#store.add(new vscode.EventEmitter<void>());
  readonly #didChangeName = this.#store.add(new vscode.EventEmitter<string>());
  readonly #text: TerminalText;
  readonly #pacer: OutputPacer;
  #isAtLineStart = true;
  #hasToldNoInput = false;
  #acceptsCloseKeyAt: number | undefined;
  #resizeTimer: NodeJS.Timeout | undefined;
  #openedAt = 0;
  #nameTimer: NodeJS.Timeout | undefined;

  readonly onDidWrite = this.#didWrite.event;
  readonly onDidClose = this.#didClose.event;
  readonly onDidChangeName = this.#didChangeName.event;

  constructor(session: SessionView, options: PseudoterminalOptions) {
    this.#session = session;
    this.#options = options;
    this.#text = new TerminalText(session.isTty);
    this.#pacer = this.#store.add(
      new OutputPacer({
        write: (bytes) => this.#write(this.#text.decode(bytes)),
        gap: (droppedBytes) => this.#writeGap(droppedBytes),
      }),
    );
  }

  /** Nothing is subscribed or kept before this: an unopened terminal costs nothing. */
  open(dimensions: vscode.TerminalDimensions | undefined): void {
    this.#openedAt = Date.now();
    this.setDimensions(dimensions);
    this.#store.add(this.#session.onDidOutput((bytes) => this.#pacer.push(bytes)));
    this.#store.add(this.#session.onDidClose(() => this.#end()));
    const replay = this.#session.replay();
    replay.then(
      (text) => this.#start(text),
      (error: unknown) => this.#start(`Earlier output cannot be shown: ${String(error)}\r\n`),
    );
  }

  handleInput(data: string): void {
    if (this.#acceptsCloseKeyAt !== undefined) {
      this.#closeByKey(data);
      return;
    }
    if (isReport(data) && !this.#options.answersQueries()) {
      return;
    }
    if (!this.#session.isTty && data.includes('\x03')) {
      this.#session.interrupt();
      return;
    }
    if (!this.#session.write(data) && this.#session.state.kind === 'running') {
      this.#tellNoInput();
    }
  }

  setDimensions(dimensions: vscode.TerminalDimensions | undefined): void {
    if (dimensions === undefined || !this.#session.isTty) {
      return;
    }
    clearTimeout(this.#resizeTimer);
    this.#resizeTimer = setTimeout(() => this.#session.resize(dimensions), resizeDelayMs);
  }

  close(): void {
    clearTimeout(this.#resizeTimer);
    clearTimeout(this.#nameTimer);
    this.#store.dispose();
  }

  #start(replay: string): void {
    const { cwd, commandLine } = this.#session;
    this.#write(commandStarted({ cwd, commandLine, nonce: this.#options.nonce }));
    this.#write(this.#session.isTty ? replay : replay.replace(/(?<!\r)\n/g, '\r\n'));
    this.#pacer.release();
    if (this.#session.isClosed) {
      this.#end();
    }
  }

  #end(): void {
    this.#pacer.onceDrained(() => this.#writeEnd());
  }

  #writeEnd(): void {
    const { state } = this.#session;
    if (state.kind === 'running' || this.#acceptsCloseKeyAt !== undefined) {
      return;
    }
    this.#acceptsCloseKeyAt = Date.now() + closeKeyDelayMs;
    const left = this.#pacer.droppedBytes;
    const facts = [
      exitSentence(this.#session, state),
      left > 0 ? `${formatBytes(left)} of its output are not shown here.` : undefined,
      ...this.#options.sandboxSentences(),
      'Press any key to close.',
    ];
    // The command may have left its alternate screen, a hidden cursor or mouse reports behind; unlike 1049,
    // 47 does not also move the cursor when there is nothing to leave.
    const calm = this.#session.isTty ? '\x1b[?47l\x1b[?25h\x1b[?1000;1002;1003;1006;2004l' : '';
    const end = `${calm}${reset}${this.#freshLine()}${commandFinished(state.exitCode)}`;
    this.#write(`${end}\r\n${inverse} ${facts.filter(Boolean).join(' ')} ${reset}\r\n`);
    this.#tellName();
  }

  /** Once more when the terminal is young: the editor gives it the name of its birth when it has finished opening it. */
  #tellName(): void {
    const tell = (): void => this.#didChangeName.fire(terminalName(this.#session));
    tell();
    const left = this.#openedAt + openingMs - Date.now();
    if (left > 0) {
      this.#nameTimer = setTimeout(tell, left);
    }
  }

  #closeByKey(data: string): void {
    const isKeySequence = data.length > 1 && data.startsWith('\x1b');
    if (!isKeySequence && Date.now() >= (this.#acceptsCloseKeyAt ?? Infinity)) {
      this.#didClose.fire();
    }
  }

  #tellNoInput(): void {
    if (!this.#hasToldNoInput) {
      this.#hasToldNoInput = true;
      this.#write(
        `${this.#freshLine()}${dim}This session takes no input: it was started without a terminal. Ctrl+C interrupts it.${reset}\r\n`,
      );
    }
  }

  #writeGap(droppedBytes: number): void {
    this.#text.reset();
    this.#write(`${this.#freshLine()}${reset}${dim}… ${formatBytes(droppedBytes)} not shown …${reset}\r\n`);
  }

  #freshLine(): string {
    return this.#isAtLineStart ? '' : '\r\n';
  }

  #write(text: string): void {
    if (text !== '') {
      this.#isAtLineStart = text.endsWith('\n');
      this.#didWrite.fire(text);
    }
  }
}

/** What a terminal sends by itself when a program asks for its kind, colours, modes or cursor position. */
function isReport(data: string): boolean {
  return /^\x1b(\[[?>=]?[\d;]*(c|R|n|\$y)|\]|P)/.test(data);
}

const dim = '\x1b[2m';
const inverse = '\x1b[7m';
const reset = '\x1b[0m';
const resizeDelayMs = 50;
/** How long the editor may take to open a terminal. */
const openingMs = 5_000;
/** A key typed for the command must not close the terminal because the command ended a moment before. */
const closeKeyDelayMs = 500;
