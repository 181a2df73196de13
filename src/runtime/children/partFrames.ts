import { isUtf8 } from 'node:buffer';

/** What programs in a sandbox and the runtime say to each other; `src/sandbox/linux/helper/part.c` is the other side. */
export interface Frame {
  readonly letter: string;
  readonly rest: Buffer;
}

/** `MAX_QUESTION` in part.c. */
const maxFrameBytes = 128 * 1024;
/** Below `MAX_ANSWER` in part.c. */
const maxMessageBytes = 4096;
const sizeBytes = 4;

/** Cuts what comes over a connection into frames, however small the pieces are in which it comes. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #size = 0;
  /** So much must be there before there is something to find. */
  #needed = sizeBytes;

  /** The frames that are complete now; undefined when what came is none. */
  read(chunk: Buffer): readonly Frame[] | undefined {
    this.#pieces.push(chunk);
    this.#size += chunk.length;
    if (this.#size < this.#needed) {
      return [];
    }
    let rest = Buffer.concat(this.#pieces);
    const frames: Frame[] = [];
    this.#needed = sizeBytes;
    while (rest.length >= sizeBytes) {
      const size = rest.readUInt32LE(0);
      if (size === 0 || size > maxFrameBytes) {
        return undefined;
      }
      if (rest.length < sizeBytes + size) {
        this.#needed = sizeBytes + size;
        break;
      }
      const body = rest.subarray(sizeBytes, sizeBytes + size);
      frames.push({ letter: String.fromCharCode(body[0] ?? 0), rest: body.subarray(1) });
      rest = rest.subarray(sizeBytes + size);
    }
    this.#pieces = [rest];
    this.#size = rest.length;
    return frames;
  }
}

export function frameOf(letter: string, rest: Uint8Array = new Uint8Array()): Buffer {
  const frame = Buffer.alloc(sizeBytes + 1 + rest.length);
  frame.writeUInt32LE(1 + rest.length, 0);
  frame.write(letter, sizeBytes, 'latin1');
  frame.set(rest, sizeBytes + 1);
  return frame;
}

/** A message for a person, as much of it as the other side takes. */
export function messageFrame(letter: string, message: string): Buffer {
  return frameOf(letter, Buffer.from(message).subarray(0, maxMessageBytes));
}

/** A program of a script that wants to run, as it says itself. */
export interface PartQuestion {
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Whether it reads from and writes to a terminal. */
  readonly isTerminal: boolean;
}

/** Undefined for what is no question. Words that are not UTF-8 could not be passed on as they are. */
export function parseQuestion(rest: Buffer): PartQuestion | undefined {
  const text = rest.subarray(1);
  if (!isUtf8(text) || text.at(-1) !== 0) {
    return undefined;
  }
  const [cwd = '', ...argv] = text.toString().slice(0, -1).split('\0');
  return cwd.startsWith('/') && argv.length > 0 && argv[0] !== ''
    ? { argv, cwd, isTerminal: rest[0] === 't'.charCodeAt(0) }
    : undefined;
}
