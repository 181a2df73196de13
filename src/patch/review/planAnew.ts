import type { Result } from '../../base/result.ts';
import { ok } from '../../base/result.ts';
import type { SandboxPolicy } from '../../sandbox/policy/policy.ts';
import { readAccess } from '../../sandbox/readAccess.ts';
import { watchedPolicy } from '../accessUnder.ts';
import type { AccessUnder } from '../accessUnder.ts';
import type { FileSystem } from '../files/fileSystem.ts';
import { parsePatch } from '../format/parsePatch.ts';
import type { PatchError } from '../patchError.ts';
import type { PatchSite } from '../patchSite.ts';
import { planPatch } from '../plan/planPatch.ts';
import type { NewPlan } from './carryOver.ts';
import type { Review } from './review.ts';

export interface PlanningTools {
  /** The files as the person sees them. */
  readonly files: FileSystem;
  readonly accessUnder: AccessUnder;
}

/** Where a review's patch is to be applied, and under which policy. */
export interface ReviewPlace {
  readonly policy: SandboxPolicy;
  /** Of a patch for another machine. */
  readonly site?: PatchSite | undefined;
}

/**
 * Plans a review's patch on the files of now. A restore has no patch: that its files are as planned is checked when
 * it is applied.
 */
export async function planAnew(
  { text, cwd, plan, refusals }: Review,
  { policy, site }: ReviewPlace,
  { files, accessUnder }: PlanningTools,
): Promise<Result<NewPlan, PatchError>> {
  if (text === undefined) {
    return ok({ plan, refusals });
  }
  if (site !== undefined) {
    return site.plan({ text, cwd, policy, isWatched: true });
  }
  const patch = parsePatch(text);
  const access = accessUnder(watchedPolicy(policy));
  return patch.ok ? planPatch(patch.value, { files, cwd, access, readAccess: readAccess(policy) }) : patch;
}
