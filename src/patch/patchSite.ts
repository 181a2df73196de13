import type { Result } from '../base/result.ts';
import type { SandboxPolicy } from '../sandbox/policy/policy.ts';
import type { WriteRefusal } from '../sandbox/writeAccess.ts';
import type { RestoreRest } from './checkpoint/completeRestore.ts';
import type { FileSystem } from './files/fileSystem.ts';
import type { PatchError } from './patchError.ts';
import type { Plan } from './plan/plan.ts';
import type { PlannedPatch } from './plan/planPatch.ts';

/** Which machine has the files of a patch, when it is not this one. */
export interface PatchMachine {
  /** Its name in the person's settings. */
  readonly environment: string;
  /** The open folder that it stands in for: a path of this machine. */
  readonly folder: string;
}

/**
 * The files of another machine, for patches. Paths are paths there, and it is the one to say where they lead and what
 * may be written. When it does not answer, that is a {@link PatchError} of the kind `machine` or `lost`.
 */
export interface PatchSite extends PatchMachine {
  plan(patch: SitePatch): Promise<Result<PlannedPatch, PatchError>>;
  /** Applies everything or nothing; beyond the policy only what a person has accepted. */
  apply(change: SiteChange): Promise<Result<void, PatchError>>;
  /** What is there now, for checkpoints; a person sees it, so nothing is hidden. */
  look(question: SiteQuestion): Promise<Result<SiteView, PatchError>>;
  /** As `completeRestore` does here; gives a sentence for each link that stays missing. */
  completeRestore(rest: RestoreRest): Promise<Result<readonly string[], PatchError>>;
}

export interface SitePatch {
  readonly text: string;
  readonly cwd: string;
  readonly policy: SandboxPolicy;
  /** Somebody can look at what leaves the folder, so that is told even where everything is allowed. */
  readonly isWatched: boolean;
}

export interface SiteChange {
  readonly plan: Plan;
  readonly policy: SandboxPolicy;
  /** Paths that a person allowed to be written although the policy does not. */
  readonly accepted: readonly string[];
}

export interface SiteQuestion {
  readonly paths: readonly string[];
  /** What judges whether they may be written. */
  readonly policy: SandboxPolicy;
  readonly withContents: boolean;
}

/** What was there a moment ago. */
export interface SiteView {
  /** The paths of the question, and no others. */
  readonly files: Pick<FileSystem, 'stat' | 'read'>;
  /** Folders above the paths that do not exist, innermost first. */
  readonly missingFolders: readonly string[];
  readonly refusals: readonly WriteRefusal[];
}
