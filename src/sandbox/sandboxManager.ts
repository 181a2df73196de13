import type { Duplex } from 'node:stream';
import type { Result } from '../base/result.ts';
import type { Finding } from './aftermath/finding.ts';
import type { DeniedCall } from './denials/deniedCall.ts';
import type { BlockedRequest } from './network/blockedRequest.ts';
import type { CommandNetwork } from './network/commandNetwork.ts';
import type { SandboxPolicy } from './policy/policy.ts';

/** What somebody wants to run, before any sandbox. `argv[0]` may be a bare name, searched on the env's PATH. */
export interface Command {
  readonly argv: readonly string[];
  /** What the program sees instead of `argv[0]`. */
  readonly arg0?: string;
  /** Absolute path of an existing folder. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** True when the command gets a terminal of its own as standard input and output. */
  readonly tty: boolean;
  /** Programs in it that are asked about before they run. A launcher without such a door leaves them as they are. */
  readonly door?: Door;
  /** Of its proxy, under policies with an allow-list for the network. */
  readonly network?: CommandNetwork;
  /** Its standard streams come over a connection that it has as standard input. */
  readonly adoptsStreams?: boolean;
}

/** The way by which programs of a confined command ask the runtime before they run. */
export interface Door {
  /** Bare names, as in front of a command's words. */
  readonly programs: readonly string[];
  /** Those of them that must not run unasked, not even in the sandbox: other machines without a door refuse. */
  readonly restricted: readonly string[];
  /** A connection from inside, not read from yet. Whoever is behind it may say anything. */
  accept(connection: DoorConnection, sandbox: HeldPaths): void;
}

/** The bytes of whoever connected, on this machine or another. Its errors are heard, and end it. */
export type DoorConnection = Pick<
  Duplex,
  'on' | 'once' | 'off' | 'write' | 'end' | 'destroy' | 'pause' | 'resume'
>;

/** What a running sandbox keeps its command from changing. */
export interface HeldPaths {
  /** Whether the command certainly cannot change what is at a canonical path. */
  isHeld(path: string): Promise<boolean>;
}

/** How the platform's launcher is to be started so that it enforces the policy on the command. */
export interface Launch {
  /** Comes before the argv, with the argv's program as an absolute path: what ends the command with this process. */
  readonly owner: readonly string[];
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly sandbox: SandboxType;
  /** What the allow-list of the network has refused so far. */
  blocked(): readonly BlockedRequest[];
  /** The system calls that were refused, a few distinct ones; known once it is released. */
  denied(): readonly DeniedCall[];
  /**
   * Removes what the launch left on the machine (empty mount points), and disarms what the command left for git or
   * editors to run. Call it once, after the launcher's exit; it does not reject.
   */
  release(): Promise<readonly Finding[]>;
}

export type SandboxType = 'none' | LauncherName;

export type LauncherName = 'bubblewrap' | 'landlock';

export const sandboxErrorKinds = [
  'bubblewrap-missing',
  'bubblewrap-too-old',
  'namespaces-apparmor',
  'namespaces-limit',
  'namespaces-switched-off',
  'namespaces-container',
  'namespaces-refused',
  'proc-unmountable',
  'loopback-denied',
  'landlock-missing',
  'wsl1',
  'helper-missing',
  'platform-unsupported',
  'clause-unenforceable',
  'bubblewrap-failed',
  'self-test-failed',
] as const;

/** Why a policy cannot be enforced here. Nothing runs when this comes back. */
export interface SandboxError {
  readonly kind: (typeof sandboxErrorKinds)[number];
  /** One sentence for a person: what stopped it. */
  readonly message: string;
  /** What to do about it. */
  readonly hint: string;
}

/** One way to enforce policies. A new platform is a folder that makes one of these, and a line in `launchers.ts`. */
export interface Launcher {
  /** How the policy is enforced on the command, or why it cannot be. */
  transform(policy: SandboxPolicy, command: Command): Promise<Result<Launch, SandboxError>>;
  /** Whether it works on this machine: tried for real once, then remembered until `refresh`. */
  check(refresh?: boolean): Promise<Result<SandboxReport, SandboxError>>;
}

/** The one place that turns a policy and a command into what the platform enforces. */
export interface SandboxManager {
  transform(policy: SandboxPolicy, command: Command): Promise<Result<Launch, SandboxError>>;
  /** What this machine can enforce: tried once, then remembered until `refresh`. */
  check(refresh?: boolean): Promise<Availability>;
  /** The companion program, where there may be one: it starts commands, too. */
  readonly companion?: string;
}

/** What the launchers of a machine said when they were tried. */
export interface Availability {
  /** The launcher that enforces the policy here, or why none does. Not for policies without a sandbox. */
  readonly launcherFor: (policy: SandboxPolicy) => Result<SandboxReport, SandboxError>;
}

/** What enforces policies on this machine. */
export interface SandboxReport {
  readonly launcher: LauncherName;
  readonly path: string;
  /** Of bubblewrap; of Landlock the version of its interface. */
  readonly version: string;
  /** Of the kernel; 0 when it has none, or is not allowed to. */
  readonly landlockVersion: number;
  /** The companion program as a confined command sees it: for the probes of the self-test. */
  readonly companionInside: string;
  /** What the launcher does not hide or hold back here, though no clause of a policy speaks of it. */
  readonly weaknesses: readonly string[];
  /** What policies allow and commands cannot do under this launcher all the same. */
  readonly losses: readonly string[];
}
