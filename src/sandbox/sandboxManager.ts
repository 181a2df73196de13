import type { Result } from '../base/result.ts';
import type { Finding } from './aftermath/finding.ts';
import type { SandboxPolicy } from './policy/policy.ts';

/** What somebody wants to run, before any sandbox. `argv[0]` may be a bare name, searched on the env's PATH. */
export interface Command {
  readonly argv: readonly string[];
  /** Absolute path of an existing folder. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** True when the command gets a terminal of its own as standard input and output. */
  readonly tty: boolean;
}

/** How the platform's launcher is to be started so that it enforces the policy on the command. */
export interface Launch {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly sandbox: SandboxType;
  /**
   * Removes what the launch left on the machine (empty mount points), and disarms what the command left for git or
   * editors to run. Call it once, after the launcher's exit; it does not reject.
   */
  release(): Promise<readonly Finding[]>;
}

export type SandboxType = 'none' | 'bubblewrap';

/** Why a policy cannot be enforced here. Nothing runs when this comes back. */
export interface SandboxError {
  readonly kind:
    | 'bubblewrap-missing'
    | 'user-namespaces-off'
    | 'wsl1'
    | 'helper-missing'
    | 'platform-unsupported'
    | 'clause-unenforceable'
    | 'bubblewrap-failed';
  /** One sentence for a person: what stopped it. */
  readonly message: string;
  /** What to do about it. */
  readonly hint: string;
}

/** The one place that turns a policy and a command into what the platform enforces. */
export interface SandboxManager {
  transform(policy: SandboxPolicy, command: Command): Promise<Result<Launch, SandboxError>>;
  /** Whether confined policies can be enforced here at all; tried once, then remembered until `refresh`. */
  check(refresh?: boolean): Promise<Result<SandboxReport, SandboxError>>;
}

/** What enforces policies on this machine. */
export interface SandboxReport {
  readonly launcher: 'bubblewrap';
  readonly path: string;
  readonly version: string;
}
