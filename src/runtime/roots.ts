import type { Result } from '../base/result.ts';
import type { ReviewMode } from '../patch/reviewMode.ts';
import type { SandboxPolicy } from '../sandbox/policy/policy.ts';

/** A workspace folder: the unit of policy. */
export interface Root {
  readonly name: string;
  /** Absolute, canonical path. */
  readonly path: string;
}

/** The open roots and their policies, as the composition root knows them (editor settings, CLI flags). */
export interface Roots {
  list(): readonly Root[];
  /** The root that a command without a workdir runs in; undefined when several are open and none is active. */
  active(): Root | undefined;
  /** The root's policy, resolved now; an invalid setting is an error, never a default. */
  policyFor(root: Root): Result<SandboxPolicy, PolicyError>;
  /** Which patches of the root wait for a person. */
  reviewModeFor(root: Root): ReviewMode;
}

export interface PolicyError {
  /** The setting or flag at fault. */
  readonly field: string;
  readonly message: string;
  readonly hint: string;
}
