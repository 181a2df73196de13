import type { ChildSpec } from './childHandle.ts';

/** The messages of `helper/spawn.c`: 32-bit numbers, the least significant byte first, as both its processors have them. */

const wordBytes = 4;

const orderKinds = { start: 1, opened: 2, forget: 3 } as const;
const answerKinds = { ready: 1, started: 2, ended: 3 } as const;

export const spawnerVersion = 1;

/** The kernel takes at most 6 MiB; the spawner itself at most this. */
const maxOrderBytes = 8 * 1024 * 1024;
/** Of words, and of variables: the kernel counts eight bytes more for each. */
const maxTexts = 1024 * 1024;

export type SpawnerAnswer =
  | { readonly kind: 'ready'; readonly version: number }
  | {
      readonly kind: 'started';
      /** Of the order. */
      readonly number: number;
      /** A negated error of the system when it could not be started. */
      readonly pid: number;
      /** Descriptors of the spawner: to write the input to (-1 without one), to read output and errors from. */
      readonly streams: readonly [number, number, number];
    }
  | { readonly kind: 'ended'; readonly pid: number; readonly exitCode: number; readonly signal: number };

/**
 * Undefined when it is longer than any system takes. Throws on a text with a NUL, as Node's spawn does: what follows it
 * would be another word or variable.
 */
export function startOrder(
  number: number,
  { argv, cwd, env }: ChildSpec,
  hasInput: boolean,
): Buffer | undefined {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const words = [cwd, ...argv, ...variables];
  if (words.some((text) => text.includes('\0'))) {
    throw new Error('a word or variable contains a NUL character');
  }
  const texts = Buffer.from([...words, ''].join('\0'));
  return texts.length > maxOrderBytes || Math.max(argv.length, variables.length) > maxTexts
    ? undefined
    : Buffer.concat([
        header(orderKinds.start, number, hasInput ? 1 : 0, argv.length, variables.length, texts.length),
        texts,
      ]);
}

/** The runtime has opened its ends of the pipes. */
export function openedOrder(pid: number): Buffer {
  return header(orderKinds.opened, pid, 0, 0, 0, 0);
}

/** The number of an ended process may be given to another one. */
export function forgetOrder(pid: number): Buffer {
  return header(orderKinds.forget, pid, 0, 0, 0, 0);
}

function header(...values: readonly number[]): Buffer {
  const buffer = Buffer.alloc(values.length * wordBytes);
  values.forEach((value, at) => buffer.writeUInt32LE(value, at * wordBytes));
  return buffer;
}

const answerWords = 7;

/** Puts answers together from what arrives. */
export class AnswerReader {
  #rest: Buffer = Buffer.alloc(0);

  /** Throws on what no spawner says. */
  read(chunk: Buffer): SpawnerAnswer[] {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const size = answerWords * wordBytes;
    const count = Math.floor(bytes.length / size);
    this.#rest = bytes.subarray(count * size);
    return Array.from({ length: count }, (_, index) => answerOf(bytes.subarray(index * size)));
  }
}

function answerOf(bytes: Buffer): SpawnerAnswer {
  const word = (at: number): number => bytes.readInt32LE(at * wordBytes);
  const [number, value] = [word(1), word(2)];
  switch (word(0)) {
    case answerKinds.ready:
      return { kind: 'ready', version: value };
    case answerKinds.started:
      return { kind: 'started', number, pid: value, streams: [word(4), word(5), word(6)] };
    case answerKinds.ended:
      return { kind: 'ended', pid: number, exitCode: value, signal: word(3) };
    default:
      throw new Error(`unknown answer ${word(0)}`);
  }
}
