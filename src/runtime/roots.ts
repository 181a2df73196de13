import type { Result } from '../base/result.ts';
import type { ReviewMode } from '../patch/reviewMode.ts';
import type { PolicyInput } from '../sandbox/policy/input.ts';
import type { SandboxPolicy } from '../sandbox/policy/policy.ts';
import type { Widening } from '../sandbox/policy/widening.ts';
import type { RuleSet } from '../sandbox/rules/rule.ts';
import type { ApprovalPolicy } from './approvals/approvalPolicy.ts';

/** A workspace folder: the unit of policy. */
export interface Root {
  readonly name: string;
  /** Absolute, canonical path on this machine, whichever runs its commands. */
  readonly path: string;
  /** The environment that runs its commands; this machine without. What was granted for one holds there only. */
  readonly environment?: string;
}

/** What everybody who has a say says about a root, for a machine that makes a policy of it where its files are. */
export interface RootSettings extends Pick<
  PolicyInput,
  'isTrusted' | 'user' | 'profiles' | 'profile' | 'grant' | 'workspace'
> {
  /** The grants in force. */
  readonly widenings: readonly Widening[];
}

/** The open roots and their policies, as the composition root knows them (editor settings, CLI flags). */
export interface Roots {
  list(): readonly Root[];
  /** The root that a command without a workdir runs in; undefined when several are open and none is active. */
  active(): Root | undefined;
  /**
   * The root's policy, resolved now, with the grants in force; an invalid setting is an error, never a default.
   * `widenings` come on top for one command, and are narrowed like every word of the person. Of a root whose commands
   * run elsewhere it is the last that was resolved there for the same words: to be shown and offered by, never run by.
   */
  policyFor(root: Root, widenings?: readonly Widening[]): Result<SandboxPolicy, PolicyError>;
  /** Absent where the commands of every root run on this machine. */
  settingsFor?(root: Root): Result<RootSettings, PolicyError>;
  /** When commands of the root are asked about. */
  approvalPolicyFor(root: Root): Result<ApprovalPolicy, PolicyError>;
  /** The rules about commands that hold in the root; rules that cannot be read are a problem in the set. */
  rulesFor(root: Root): Promise<RuleSet>;
  /** Which patches of the root wait for a person. */
  reviewModeFor(root: Root): ReviewMode;
}

export interface PolicyError {
  /** The setting or flag at fault. */
  readonly field: string;
  readonly message: string;
  readonly hint: string;
}
