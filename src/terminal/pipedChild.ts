import type { Readable, Writable } from 'node:stream';
import type { ChildExit, ChildSpec } from './childHandle.ts';

export interface PipedSpec extends ChildSpec {
  readonly pipeStdin: boolean;
}

/** A started process, leader of a session and a process group of its own. */
export interface PipedChild {
  readonly pid: number;
  readonly exited: Promise<ChildExit>;
  readonly stdin?: Writable;
  /** Standard output and standard error. */
  readonly streams: readonly [Readable, Readable];
  /** To be called when it is signalled no more, after its end: its number may then be another one's. */
  readonly forget: () => void;
}
