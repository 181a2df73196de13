import type { Event } from '../base/event.ts';
import type { BlockedRequest } from '../sandbox/network/blockedRequest.ts';

/** What a terminal view needs of an exec session; the runtime's `Session` has this shape. */
export interface SessionView {
  readonly id: number;
  /** The command as the person or the agent wrote it. */
  readonly commandLine: string;
  readonly cwd: string;
  readonly isTty: boolean;
  readonly isUnsandboxed: boolean;
  /** The machine that runs it. */
  readonly environment: string;
  readonly state: SessionState;
  /** True once {@link onDidClose} has fired: exited, and no output follows. */
  readonly isClosed: boolean;
  /** Output as it comes, raw bytes, both streams of a pipe session in order of arrival. */
  readonly onDidOutput: Event<Uint8Array>;
  /** Fires once, after the last output. */
  readonly onDidClose: Event<void>;
  /**
   * What a viewer that opens now should be shown first, as terminal output: for a tty session the screen
   * with its scrollback, else the retained output, with a line where earlier output was dropped.
   * Output that arrives after the call is not in it; subscribe before awaiting.
   */
  replay(): Promise<string>;
  /** Types into the session. False when nothing reads (finished, or no terminal and no stdin). */
  write(data: string): boolean;
  /** Sends the interrupt signal, as Ctrl+C on a terminal would. */
  interrupt(): boolean;
  resize(size: { readonly columns: number; readonly rows: number }): void;
  terminate(): Promise<void>;
}

export type SessionState =
  | { readonly kind: 'running' }
  | {
      readonly kind: 'exited';
      readonly exitCode: number;
      readonly signal?: string;
      readonly sandboxDenied: boolean;
      readonly blockedRequests?: readonly BlockedRequest[];
      /** Why nobody knows how it ended. */
      readonly failure?: string;
      readonly durationMs: number;
    };
