import { constants } from 'node:buffer';
import type { Readable, Writable } from 'node:stream';
import { Emitter } from '../../../base/event.ts';
import type { Event } from '../../../base/event.ts';
import type { MessageTransport, TransportEnd } from './messageTransport.ts';
import { OneWrite } from './oneWrite.ts';
import { SentBytes } from './sentBytes.ts';

const newline = 0x0a;

export interface LineOptions {
  /** Ends what the streams belong to. Destroying them is done anyway. */
  readonly close?: () => void;
  /** Why it ended, when somebody knows. */
  readonly reason?: () => string | undefined;
  /** A longer line ends the connection. By default what no string can hold. */
  readonly maxMessageBytes?: number;
}

/**
 * Messages as lines over a pair of streams, which may be one. Blank lines and carriage returns before a line's end are
 * passed over; an unterminated last line is dropped. Whoever closes the input closes the connection.
 */
export function linesTransport(
  input: Readable,
  output: Writable,
  name: string,
  options: LineOptions = {},
): MessageTransport {
  return new LinesTransport(input, output, name, options);
}

class LinesTransport implements MessageTransport {
  readonly name: string;
  readonly #messages = new Emitter<string>();
  readonly #closed = new Emitter<TransportEnd>();
  readonly onMessage: Event<string> = this.#messages.event;
  readonly onClose: Event<TransportEnd> = this.#closed.event;
  readonly onDrain: Event<void>;
  readonly #input: Readable;
  readonly #output: Writable;
  readonly #options: LineOptions;
  readonly #sent = new SentBytes();
  readonly #writes: OneWrite;
  /** Of the line whose end has not come yet. */
  #parts: Buffer[] = [];
  #bytes = 0;
  /** What came with a line after which the listener wanted no more. */
  #rest: Buffer | undefined;
  #isPaused = true;
  #isClosed = false;

  constructor(input: Readable, output: Writable, name: string, options: LineOptions) {
    this.name = name;
    this.#input = input;
    this.#output = output;
    this.#writes = new OneWrite(output);
    this.#options = options;
    this.onDrain = this.#sent.onDrain;
    input.pause();
    input.on('data', (chunk: Buffer) => this.#read(chunk));
    input.on('end', () => this.#end({}));
    input.on('close', () => this.#end({}));
    for (const stream of new Set([input, output])) {
      stream.on('error', (error: Error) => this.#end({ reason: error.message }));
    }
    output.on('close', () => this.#end({}));
    input.pause();
  }

  get bufferedBytes(): number {
    return this.#output.writableLength;
  }

  send(message: string | Uint8Array, taken?: () => void): void {
    if (this.#isClosed) {
      return;
    }
    this.#writes.begin();
    this.#output.write(message);
    this.#output.write('\n', (error) => {
      if (!error) {
        taken?.();
      }
      this.#sent.taken(this.#output.writableLength);
    });
    this.#sent.added(this.#output.writableLength);
  }

  pause(): void {
    this.#isPaused = true;
    this.#input.pause();
  }

  resume(): void {
    this.#isPaused = false;
    const rest = this.#rest;
    this.#rest = undefined;
    if (rest !== undefined) {
      this.#read(rest);
    }
    if (!this.#isPaused && !this.#isClosed) {
      this.#input.resume();
    }
  }

  close(): void {
    this.#end({});
  }

  #read(chunk: Buffer): void {
    let from = 0;
    while (!this.#isClosed) {
      if (this.#isPaused) {
        const left = chunk.subarray(from);
        this.#rest = this.#rest === undefined ? left : Buffer.concat([this.#rest, left]);
        return;
      }
      const to = chunk.indexOf(newline, from);
      if (to < 0) {
        this.#keep(chunk.subarray(from));
        return;
      }
      this.#keep(chunk.subarray(from, to));
      from = to + 1;
      const line = Buffer.concat(this.#parts, this.#bytes).toString('utf8').trim();
      this.#parts = [];
      this.#bytes = 0;
      if (line !== '' && !this.#isClosed) {
        this.#messages.fire(line);
      }
    }
  }

  #keep(part: Buffer): void {
    this.#bytes += part.byteLength;
    const { maxMessageBytes = constants.MAX_STRING_LENGTH } = this.#options;
    if (this.#bytes > maxMessageBytes) {
      this.#end({ reason: `a line is longer than ${maxMessageBytes} bytes` });
    } else if (part.byteLength > 0) {
      this.#parts.push(part);
    }
  }

  #end(end: TransportEnd): void {
    if (this.#isClosed) {
      return;
    }
    this.#isClosed = true;
    this.#parts = [];
    this.#rest = undefined;
    this.#writes.end();
    this.#input.destroy();
    this.#output.destroy();
    this.#options.close?.();
    const reason = this.#options.reason?.() ?? end.reason;
    this.#closed.fire(reason === undefined ? {} : { reason });
  }
}
