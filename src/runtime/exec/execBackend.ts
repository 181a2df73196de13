import type { Event } from '../../base/event.ts';
import type { Result } from '../../base/result.ts';
import type { Finding } from '../../sandbox/aftermath/finding.ts';
import type { DeniedCall } from '../../sandbox/denials/deniedCall.ts';
import type { BlockedRequest } from '../../sandbox/network/blockedRequest.ts';
import type { SandboxPolicy } from '../../sandbox/policy/policy.ts';
import type { Door, DoorConnection, SandboxError, SandboxType } from '../../sandbox/sandboxManager.ts';
import type { OutputStream, TerminalSize } from '../../terminal/childHandle.ts';
import type { FolderIdentity } from './workFolder.ts';

export type { OutputStream, TerminalSize };

export interface StartParams {
  /** At least one element. `argv[0]` may be a bare name, searched on the env's PATH. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** What `cwd` must be, over no link: then it runs in that very folder, whatever becomes of the path meanwhile. */
  readonly folder?: FolderIdentity;
  /** Replaces `argv[0]` as the program sees it. */
  readonly arg0?: string;
  /** The whole environment of the child: nothing is added. */
  readonly env: Readonly<Record<string, string>>;
  /** `env` comes on top of what the policy's clause lets through of the executing machine's own environment. */
  readonly inheritsEnvironment?: boolean;
  readonly policy: SandboxPolicy;
  /** Present: the child gets a pseudoterminal of that size. Absent: pipes. */
  readonly tty?: TerminalSize;
  /** Instead of pipes: the connection over which it gets its standard streams; taken over whatever comes of it. */
  readonly streams?: DoorConnection;
  /** How programs in it ask before they run, where the sandbox has a way. */
  readonly door?: Door;
  /** Only without a tty: keep standard input open as a pipe; otherwise it is `/dev/null`. */
  readonly pipeStdin?: boolean;
  /** The environment that runs it; this machine without. */
  readonly environment?: string;
  /** By what it is recognised when the processes of an environment are listed after a restart. */
  readonly label?: string;
}

/** One entry of a process's event stream. `seq` counts from 1 without holes, over all kinds. */
export type ExecEvent =
  | {
      readonly kind: 'output';
      readonly seq: number;
      readonly stream: OutputStream;
      readonly chunk: Uint8Array;
    }
  /** From another machine only: the events `fromSeq` to `seq` were lost on the way and are no longer kept there. */
  | { readonly kind: 'gap'; readonly seq: number; readonly fromSeq: number }
  | ({ readonly kind: 'exited'; readonly seq: number } & ExitStatus)
  | { readonly kind: 'closed'; readonly seq: number };

export interface ExitStatus {
  /** 128 + n when the process died of signal n. */
  readonly exitCode: number;
  readonly signal?: NodeJS.Signals;
  /** The sandbox likely stopped something the command tried; see sandbox/denials/likelyDenial.ts. */
  readonly sandboxDenied: boolean;
  /** What the network's allow-list refused; absent when there was nothing. */
  readonly blockedRequests?: readonly BlockedRequest[];
  /** Why nobody knows how it ended: the machine that ran it is gone. The exit code is 255 then. */
  readonly failure?: string;
}

/** What was refused for certain. */
export interface Refusals {
  readonly requests: readonly BlockedRequest[];
  readonly calls: readonly DeniedCall[];
}

export interface ReadRequest {
  /** Return events with a higher `seq`. 0 reads from the start. */
  readonly afterSeq: number;
  /** Stop before the chunk that would exceed it, but return at least one. */
  readonly maxBytes?: number;
  /** How long to wait for something new, in milliseconds. */
  readonly waitMs?: number;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

export interface ReadResult {
  readonly chunks: readonly {
    readonly seq: number;
    readonly stream: OutputStream;
    readonly chunk: Uint8Array;
  }[];
  /** Pass `nextSeq - 1` as the next `afterSeq`. */
  readonly nextSeq: number;
  /** The events after `afterSeq` that fell out of the retained window before this read, both ends included. */
  readonly gap?: { readonly fromSeq: number; readonly toSeq: number };
  readonly exit?: ExitStatus;
  readonly closed: boolean;
}

export type WriteStatus = 'accepted' | 'stdin-closed' | 'exited';

/** A started process. Its events are pushed to listeners whole and retained in a window of 1 MiB for readers. */
export interface ExecProcess {
  readonly sandbox: SandboxType;
  readonly isTty: boolean;
  readonly exit: ExitStatus | undefined;
  /** What the command left behind and the sandbox disarmed; known once it is closed. */
  readonly findings: readonly Finding[];
  /** What proxy and kernel have refused to the command, whatever it made of it; complete once it is closed. */
  readonly refusals: Refusals;
  /** Resolves with the `closed` event: exited, and its output drained (at most 2 s after the exit). */
  readonly closed: Promise<void>;
  /** Every event from the moment of subscription. Subscribe synchronously after start to miss none. */
  readonly onEvent: Event<ExecEvent>;
  read(request: ReadRequest): Promise<ReadResult>;
  write(bytes: Uint8Array): WriteStatus;
  /** Only with `pipeStdin`. */
  endInput(): void;
  resize(size: TerminalSize): void;
  /** Sends a signal to the command's process group, inside its sandbox if it has one. False when it has exited. */
  signal(name: NodeJS.Signals): boolean;
  /** TERM to the whole group, KILL after `graceMs` (default 2,000); resolves when it is closed. */
  terminate(graceMs?: number): Promise<void>;
  /** Changes {@link StartParams.label}. Present where the process outlives this program, which may find it again. */
  relabel?(label: string): void;
}

/** A process that an earlier program left behind, running or not. */
export interface FoundProcess {
  /** Its events go on with `retained.nextSeq`; subscribe before the current turn ends to miss none. */
  readonly process: ExecProcess;
  /** What can still be read of it, from the start. */
  readonly retained: ReadResult;
  readonly label: string;
  /** That runs it; this machine without. What the label says about it is only what that machine says. */
  readonly environment?: string;
}

export const spawnErrorKinds = ['spawn-not-found', 'spawn-permission-denied', 'spawn-failed'] as const;

export interface SpawnError {
  readonly kind: (typeof spawnErrorKinds)[number];
  readonly message: string;
  readonly hint: string;
}

export type StartError = SpawnError | SandboxError;

/** A place that runs commands. */
export interface ExecBackend {
  start(params: StartParams): Promise<Result<ExecProcess, StartError>>;
  /** The environment will be needed soon: what its first start would wait for begins now. */
  prewarm?(environment: string): void;
  /** What was started before with a label, in the same session, and can still be read. Asked once, before any start. */
  found?(): Promise<readonly FoundProcess[]>;
}
