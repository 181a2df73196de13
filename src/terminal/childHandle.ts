import type { Event } from '../base/event.ts';

export type OutputStream = 'stdout' | 'stderr' | 'pty';

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

export interface ChildOutput {
  readonly stream: OutputStream;
  readonly chunk: Uint8Array;
}

export interface ChildExit {
  /** 128 + n when the child died of signal n. */
  readonly exitCode: number;
  readonly signal?: NodeJS.Signals;
}

/** A started operating-system process, leader of a process group of its own. */
export interface ChildHandle {
  readonly pid: number;
  readonly onOutput: Event<ChildOutput>;
  /** Fires once; output may still follow until `onDrained`. */
  readonly onExit: Event<ChildExit>;
  /** Fires once, after the exit, when no more output comes: all ends closed, or the drain time is over. */
  readonly onDrained: Event<void>;
  /** False when the child has no standard input (any more). */
  write(bytes: Uint8Array): boolean;
  endInput(): void;
  resize(size: TerminalSize): void;
  /** Stops reading, so that the child waits when its pipe or terminal is full; what is read already still comes. */
  pause(): void;
  resume(): void;
  /** Resolves when little enough of what was written waits for the child to read it, or nothing reads it any more. */
  whenWritable(): Promise<void>;
  /** Whoever else still holds the output is not waited for any longer. */
  endDrain(): void;
}

/** What may wait to be read by a child before {@link ChildHandle.whenWritable} makes writers wait. */
export const maxPendingInput = 1024 * 1024;

/** What to start: an exact argv, folder and environment; nothing is added to any of them. */
export interface ChildSpec {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** How long output is waited for after the exit when something else still holds the other end. */
export const drainTimeoutMs = 2_000;
