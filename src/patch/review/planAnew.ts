import type { Result } from '../../base/result.ts';
import { ok } from '../../base/result.ts';
import { isUnsandboxed } from '../../sandbox/policy/policy.ts';
import type { SandboxPolicy } from '../../sandbox/policy/policy.ts';
import { readAccess } from '../../sandbox/readAccess.ts';
import type { AccessUnder } from '../accessUnder.ts';
import type { FileSystem } from '../files/fileSystem.ts';
import { parsePatch } from '../format/parsePatch.ts';
import type { PatchError } from '../patchError.ts';
import { planPatch } from '../plan/planPatch.ts';
import type { NewPlan } from './carryOver.ts';
import type { Review } from './review.ts';

export interface PlanningTools {
  /** The files as the person sees them. */
  readonly files: FileSystem;
  readonly accessUnder: AccessUnder;
}

/**
 * Plans a review's patch on the files of now. A restore has no patch: that its files are as planned is checked when
 * it is applied.
 */
export async function planAnew(
  { text, cwd, plan, refusals }: Review,
  policy: SandboxPolicy,
  { files, accessUnder }: PlanningTools,
): Promise<Result<NewPlan, PatchError>> {
  if (text === undefined) {
    return ok({ plan, refusals });
  }
  const patch = parsePatch(text);
  // What leaves the folder is shown as such even where everything is allowed.
  const access = accessUnder(isUnsandboxed(policy) ? { ...policy, mode: 'workspace-write' } : policy);
  return patch.ok ? planPatch(patch.value, { files, cwd, access, readAccess: readAccess(policy) }) : patch;
}
