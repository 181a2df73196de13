import type { Log } from '../../base/log.ts';
import type { AccessUnder } from '../../patch/accessUnder.ts';
import { watchedPolicy } from '../../patch/accessUnder.ts';
import { parsePatch } from '../../patch/format/parsePatch.ts';
import type { PatchHost, PatchRequest } from '../../patch/patchHost.ts';
import type { Plan, PlannedChange } from '../../patch/plan/plan.ts';
import { planPatch } from '../../patch/plan/planPatch.ts';
import type { ReviewMode } from '../../patch/reviewMode.ts';
import { readAccess } from '../../sandbox/readAccess.ts';
import type { WriteRefusal } from '../../sandbox/writeAccess.ts';
import type { Place } from '../places.ts';
import type { Roots } from '../roots.ts';
import type { ToolResult } from '../tools/tool.ts';
import {
  aborted,
  applied,
  applyFailed,
  emptyPatch,
  environmentUnavailable,
  notAllowed,
  nobodyReviews,
  reviewed,
  verificationFailed,
} from './patchAnswers.ts';

export interface PatchRunnerOptions {
  readonly host: PatchHost;
  readonly roots: Pick<Roots, 'reviewModeFor'>;
  readonly log: Log;
  readonly accessUnder: AccessUnder;
}

export interface PatchCall {
  readonly text: string;
  /** Where the call was made; decides the policy. */
  readonly place: Pick<Place, 'cwd' | 'root' | 'policy'> & Partial<Pick<Place, 'machine'>>;
  /** Absolute path that names in the patch are relative to; the place's own folder by default. */
  readonly cwd?: string | undefined;
  readonly signal: AbortSignal;
}

/** Takes a patch from its text to the answer for the model: parse, plan, decide, then apply or review. */
export class PatchRunner {
  readonly #options: PatchRunnerOptions;

  constructor(options: PatchRunnerOptions) {
    this.#options = options;
  }

  async run({ text, place, cwd = place.cwd, signal }: PatchCall): Promise<ToolResult> {
    const startedAt = performance.now();
    const { host, roots, log, accessUnder } = this.#options;
    const patch = parsePatch(text);
    if (!patch.ok) {
      return verificationFailed(patch.error);
    }
    if (patch.value.environmentId !== undefined) {
      return environmentUnavailable();
    }
    if (patch.value.sections.length === 0) {
      return emptyPatch();
    }
    const { policy, root, machine } = place;
    const mode = roots.reviewModeFor(root);
    const site = machine?.patchSite?.(root);
    // What leaves the folder waits for a look even with full access, as every command does there; only reviews that
    // are off let it through.
    const isWatched = mode !== 'never' && host.review !== undefined;
    const planned = await (site === undefined
      ? planPatch(patch.value, {
          files: host.files,
          cwd,
          access: accessUnder(isWatched ? watchedPolicy(policy) : policy),
          readAccess: readAccess(policy),
        })
      : site.plan({ text, cwd, policy, isWatched }));
    if (!planned.ok) {
      return verificationFailed(planned.error);
    }
    if (signal.aborted) {
      return aborted(performance.now() - startedAt);
    }
    const { plan, refusals } = planned.value;
    const title = site === undefined ? titleOf(plan) : `${site.environment}: ${titleOf(plan)}`;
    const request: PatchRequest = { title, text, cwd, policy, site, plan, refusals };
    const decision = decide(mode, refusals, plan, host.review !== undefined);
    log.debug(
      `patch in ${cwd}: ${decision} (cordon.patch.review ${mode}, mode ${policy.mode}, ${refusals.length} refusals)`,
    );
    switch (decision) {
      case 'refuse':
        return notAllowed(refusals);
      case 'nobody':
        return nobodyReviews();
      case 'apply': {
        const result = await host.apply(request);
        const wallTimeMs = performance.now() - startedAt;
        return result.ok
          ? applied(plan, result.value.notes, wallTimeMs)
          : applyFailed(result.error, wallTimeMs);
      }
      case 'review': {
        const outcome = await host.review?.(request, signal);
        return outcome === undefined
          ? nobodyReviews()
          : reviewed(plan, outcome, performance.now() - startedAt);
      }
    }
  }
}

type Decision = 'apply' | 'review' | 'refuse' | 'nobody';

function decide(
  mode: ReviewMode,
  refusals: readonly WriteRefusal[],
  plan: Plan,
  canReview: boolean,
): Decision {
  if (refusals.some(({ reason }) => reason === 'untrusted')) {
    return 'refuse';
  }
  if (refusals.length > 0) {
    return mode !== 'never' && canReview ? 'review' : 'refuse';
  }
  if (mode !== 'always' || plan.changes.length === 0) {
    return 'apply';
  }
  return canReview ? 'review' : 'nobody';
}

/** The files by name, as many as a person takes in at a glance. */
function titleOf({ changes }: Plan): string {
  const names = changes.map(nameOf);
  return names.length > 3
    ? `${names.slice(0, 2).join(', ')} and ${names.length - 2} more files`
    : names.join(', ');
}

function nameOf(change: PlannedChange): string {
  return change.kind === 'move' ? `${change.name} → ${change.toName}` : change.name;
}
