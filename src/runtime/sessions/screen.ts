import { SerializeAddon } from '@xterm/addon-serialize';
import * as headless from '@xterm/headless';
import type { IMarker, Terminal } from '@xterm/headless';
import type { TerminalSize } from '../../terminal/childHandle.ts';

/** A CommonJS module: Node gives it as the default export, a bundle by its names. */
const { Terminal: HeadlessTerminal } =
  'Terminal' in headless ? headless : (headless as { default: typeof headless }).default;

const scrollbackLines = 5_000;
/** One write to the emulator; it answers each when parsed, which is the only flow control there is. */
const batchBytes = 256 * 1024;
/** Output waiting for the emulator. Beyond it only the newest part is kept: older lines would scroll away anyway. */
const maxBacklogBytes = 4 * 1024 * 1024;
const keptBacklogBytes = 1024 * 1024;

export interface ScreenOptions {
  readonly size: TerminalSize;
  /** True when line feeds come without carriage returns, as from pipes. */
  readonly convertEol?: boolean;
  /** Called with what a terminal answers to queries of the program, such as its cursor position. */
  readonly onReply?: (reply: string) => void;
}

/** A place in the output at which something looks at the screen. */
interface Barrier {
  readonly afterBytes: number;
  readonly pass: () => void;
}

/** What a person would see of a session: output run through a terminal emulator, in bounded memory. */
export class Screen {
  readonly #terminal: Terminal;
  readonly #serializer = new SerializeAddon();
  #backlog: Uint8Array[] = [];
  #backlogBytes = 0;
  #isParsing = false;
  #settledWaiters: (() => void)[] = [];
  #receivedBytes = 0;
  /** Parsed, or dropped from the backlog. */
  #passedBytes = 0;
  /** In order of their positions in the output. */
  #barriers: Barrier[] = [];
  /** Where the rows that the last answer showed begin, and what they read. */
  #shownFrom: IMarker | undefined;
  #shownRows: readonly string[] = [];

  constructor({ size, convertEol = false, onReply }: ScreenOptions) {
    this.#terminal = new HeadlessTerminal({
      cols: size.columns,
      rows: size.rows,
      scrollback: scrollbackLines,
      convertEol,
      allowProposedApi: true,
    });
    this.#terminal.loadAddon(this.#serializer);
    if (onReply !== undefined) {
      this.#terminal.onData(onReply);
    }
  }

  write(chunk: Uint8Array): void {
    this.#backlog.push(chunk);
    this.#backlogBytes += chunk.byteLength;
    this.#receivedBytes += chunk.byteLength;
    if (this.#backlogBytes > maxBacklogBytes) {
      this.#keepNewest();
    }
    this.#parseNext();
  }

  resize({ columns, rows }: TerminalSize): void {
    this.#terminal.resize(columns, rows);
  }

  /**
   * The text that changed since the last call: settled lines that scrolled up, then the rows of the screen from the
   * first that differs. A full-screen program gives its whole screen. Wrapped lines are joined again.
   */
  async takeText(): Promise<string> {
    await this.#settled();
    const buffer = this.#terminal.buffer.active;
    if (buffer.type === 'alternate') {
      return joinRows(this.#readRows(buffer.baseY, buffer.baseY + this.#terminal.rows));
    }
    const end = this.#contentEnd();
    const from = this.#firstChangedRow(end);
    const text = joinRows(this.#readRows(from, end));
    this.#rememberShown(end);
    return text;
  }

  /**
   * Escape sequences that draw the present screen and its scrollback in another terminal. What is written after
   * the call is not in them, however far behind the emulator is: a viewer that follows from here misses nothing
   * and sees nothing twice.
   */
  serialize(): Promise<string> {
    return new Promise((resolve) => this.afterParsing(() => resolve(this.#serializer.serialize())));
  }

  /** Counts what was written so far as shown by an answer. */
  markShown(): void {
    this.afterParsing(() => {
      if (this.#terminal.buffer.active.type === 'normal') {
        this.#rememberShown(this.#contentEnd());
      }
    });
  }

  /** Calls back when everything that was written so far is on the screen, and nothing else. */
  afterParsing(pass: () => void): void {
    this.#barriers.push({ afterBytes: this.#receivedBytes, pass });
    this.#parseNext();
  }

  dispose(): void {
    this.#terminal.dispose();
  }

  #parseNext(): void {
    if (this.#isParsing) {
      return;
    }
    this.#passBarriers();
    if (this.#backlogBytes === 0) {
      this.#settledWaiters.splice(0).forEach((resolve) => resolve());
      return;
    }
    const batch = this.#takeBatch();
    this.#isParsing = true;
    this.#terminal.write(batch.length === 1 ? (batch[0] as Uint8Array) : Buffer.concat(batch), () => {
      this.#isParsing = false;
      this.#parseNext();
    });
  }

  /** What to parse next; it ends where a barrier stands. */
  #takeBatch(): Uint8Array[] {
    const untilBarrier = (this.#barriers[0]?.afterBytes ?? Infinity) - this.#passedBytes;
    const maxBytes = Math.min(batchBytes, untilBarrier);
    const batch: Uint8Array[] = [];
    let bytes = 0;
    let taken = 0;
    while (taken < this.#backlog.length && bytes < maxBytes) {
      const chunk = this.#backlog[taken] as Uint8Array;
      const part = chunk.subarray(0, maxBytes - bytes);
      batch.push(part);
      bytes += part.byteLength;
      if (part.byteLength < chunk.byteLength) {
        this.#backlog[taken] = chunk.subarray(part.byteLength);
        break;
      }
      taken += 1;
    }
    this.#backlog = this.#backlog.slice(taken);
    this.#backlogBytes -= bytes;
    this.#passedBytes += bytes;
    return batch;
  }

  #passBarriers(): void {
    while (this.#barriers[0] !== undefined && this.#barriers[0].afterBytes <= this.#passedBytes) {
      this.#barriers.shift()?.pass();
    }
  }

  #keepNewest(): void {
    const all = Buffer.concat(this.#backlog);
    const newest = all.subarray(all.byteLength - keptBacklogBytes);
    const lineStart = newest.indexOf(10) + 1;
    this.#backlog = [newest.subarray(lineStart)];
    this.#backlogBytes = newest.byteLength - lineStart;
    this.#passedBytes += all.byteLength - this.#backlogBytes;
  }

  async #settled(): Promise<void> {
    if (this.#isParsing || this.#backlogBytes > 0) {
      await new Promise<void>((resolve) => this.#settledWaiters.push(resolve));
    }
  }

  /** One past the last row with content; the cursor's row counts when something stands on it. */
  #contentEnd(): number {
    const buffer = this.#terminal.buffer.active;
    let end = buffer.baseY + this.#terminal.rows;
    while (end > 0 && (buffer.getLine(end - 1)?.translateToString(true) ?? '') === '') {
      end--;
    }
    return end;
  }

  #firstChangedRow(end: number): number {
    if (this.#shownFrom === undefined) {
      return 0;
    }
    if (this.#shownFrom.line < 0) {
      // Everything shown before has scrolled out of the scrollback.
      return 0;
    }
    let row = this.#shownFrom.line;
    for (const shown of this.#shownRows) {
      if (row >= end || this.#rowText(row) !== shown) {
        break;
      }
      row++;
    }
    while (row > 0 && this.#terminal.buffer.active.getLine(row)?.isWrapped === true) {
      row--;
    }
    return row;
  }

  #rememberShown(end: number): void {
    const buffer = this.#terminal.buffer.active;
    this.#shownFrom?.dispose();
    this.#shownFrom = this.#terminal.registerMarker(-buffer.cursorY);
    this.#shownRows = Array.from({ length: Math.max(0, end - buffer.baseY) }, (_, row) =>
      this.#rowText(buffer.baseY + row),
    );
  }

  #rowText(row: number): string {
    return this.#terminal.buffer.active.getLine(row)?.translateToString(true) ?? '';
  }

  #readRows(from: number, end: number): string[] {
    const lines: string[] = [];
    for (let row = from; row < end; row++) {
      const line = this.#terminal.buffer.active.getLine(row);
      const isContinued = this.#terminal.buffer.active.getLine(row + 1)?.isWrapped === true && row + 1 < end;
      const text = line?.translateToString(!isContinued) ?? '';
      if (line?.isWrapped === true && lines.length > 0) {
        lines[lines.length - 1] += text;
      } else {
        lines.push(text);
      }
    }
    return lines;
  }
}

function joinRows(rows: readonly string[]): string {
  const last = rows.findLastIndex((row) => row !== '');
  return rows.slice(0, last + 1).join('\n');
}
