import type { PatchHost, PatchRequest, ReviewOutcome } from '../../patch/patchHost.ts';
import type { PatchApplier } from './patchApplier.ts';

/** Reviews in the editor. What a person accepts is applied through {@link PatchApplier.applyReviewed}. */
export interface PatchReviews {
  open(request: PatchRequest, signal: AbortSignal): Promise<ReviewOutcome>;
}

/** Applies the runtime's patches in the editor; without `reviews` there is nobody to ask. */
export function createEditorPatchHost(
  applier: Pick<PatchApplier, 'files' | 'apply'>,
  reviews?: PatchReviews,
): PatchHost {
  return {
    files: applier.files,
    apply: (request) => applier.apply(request),
    ...(reviews === undefined ? {} : { review: (request, signal) => reviews.open(request, signal) }),
  };
}
