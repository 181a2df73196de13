import type { Readable, Writable } from 'node:stream';
import { Emitter } from '../../../base/event.ts';
import type { MessageTransport, TransportEnd } from './messageTransport.ts';

export interface LinesEnd {
  /** Ends what the streams belong to. Destroying them is done anyway. */
  readonly close?: () => void;
  /** Why it ended, when somebody knows. */
  readonly reason?: () => string | undefined;
}

const newline = 0x0a;

/** One message of JSON per line; blank lines and carriage returns are nothing. An unterminated last line is none. */
export function linesTransport(
  input: Readable,
  output: Writable,
  name: string,
  { close, reason }: LinesEnd = {},
): MessageTransport {
  const messages = new Emitter<string>();
  const ends = new Emitter<TransportEnd>();
  const drains = new Emitter<void>();
  let parts: Buffer[] = [];
  let problem: string | undefined;
  let isOver = false;
  const end = (): void => {
    if (!isOver) {
      isOver = true;
      input.destroy();
      output.destroy();
      close?.();
      const known = reason?.() ?? problem;
      ends.fire({ ...(known !== undefined && { reason: known }) });
    }
  };
  input.pause();
  input.on('data', (chunk: Buffer) => {
    let start = 0;
    for (let at = chunk.indexOf(newline); at >= 0 && !isOver; at = chunk.indexOf(newline, start)) {
      parts.push(chunk.subarray(start, at));
      const line = (parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)).toString().trim();
      parts = [];
      start = at + 1;
      if (line !== '') {
        messages.fire(line);
      }
    }
    if (start < chunk.byteLength) {
      parts.push(chunk.subarray(start));
    }
  });
  for (const stream of [input, output]) {
    stream.on('error', (cause) => {
      problem ??= cause.message;
      end();
    });
    stream.on('close', end);
  }
  input.on('end', end);
  output.on('drain', () => drains.fire());
  return {
    name,
    onMessage: messages.event,
    onClose: ends.event,
    onDrain: drains.event,
    get bufferedBytes() {
      return output.writableLength;
    },
    send(text) {
      if (!isOver) {
        output.write(`${text}\n`);
      }
    },
    pause: () => void input.pause(),
    resume: () => void input.resume(),
    close: end,
  };
}
