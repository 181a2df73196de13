import type { Result } from '../base/result.ts';
import type { SandboxPolicy } from '../sandbox/policy/policy.ts';
import type { WriteRefusal } from '../sandbox/writeAccess.ts';
import type { FileSystem } from './files/fileSystem.ts';
import type { PatchError } from './patchError.ts';
import type { PatchSite } from './patchSite.ts';
import type { Plan } from './plan/plan.ts';

/** A patch that is known to apply, and where it comes from. */
export interface PatchRequest {
  /** What a person sees it as, in a few words. */
  readonly title: string;
  /** The patch as it came, to plan it anew when files change meanwhile; undefined when it was no patch (a restore). */
  readonly text?: string | undefined;
  /** Absolute path that the names in the patch are relative to. */
  readonly cwd: string;
  readonly policy: SandboxPolicy;
  /** Where the files are, when that is another machine; every path here is one of it then. */
  readonly site?: PatchSite | undefined;
  readonly plan: Plan;
  /** Writes in the plan that the policy does not allow: only a person's yes in a review can. */
  readonly refusals: readonly WriteRefusal[];
}

/** Applies patches for the runtime: on the disk alone, or in the editor with its buffers, undo and reviews. */
export interface PatchHost {
  /** The files of this machine as this host sees them; unsaved buffers count. */
  readonly files: FileSystem;
  /** Applies everything or nothing; the plan is checked against the policy once more. */
  apply(request: PatchRequest): Promise<Result<AppliedPatch, PatchError>>;
  /** Lets a person decide, applies what was accepted, and tells; undefined where there is nobody to ask. */
  review?(request: PatchRequest, signal: AbortSignal): Promise<ReviewOutcome>;
}

export interface AppliedPatch {
  /** Sentences for the model: diagnostics that appeared in the touched files, what was done another way and why. */
  readonly notes: readonly string[];
}

/** What became of a review. */
export type ReviewOutcome =
  | {
      readonly kind: 'decided';
      readonly files: readonly FileOutcome[];
      /** What the person wrote to the model. */
      readonly comment?: string | undefined;
      readonly notes: readonly string[];
    }
  /** The files changed so that the patch no longer applies. */
  | { readonly kind: 'obsolete'; readonly error: PatchError }
  /** Accepted, but applying failed; nothing was changed. */
  | { readonly kind: 'failed'; readonly error: PatchError }
  /** The caller gave up; the review goes on without it. */
  | { readonly kind: 'abandoned' };

export interface FileOutcome {
  readonly name: string;
  /** `changed`: applied, but not as proposed. */
  readonly decision: 'accepted' | 'rejected' | 'changed';
  readonly letter: 'A' | 'M' | 'D';
  /** From the proposed content to the applied one, as a unified diff; for `changed` only. */
  readonly diff?: string | undefined;
  readonly comment?: string | undefined;
}
