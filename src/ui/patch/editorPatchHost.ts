import { ok } from '../../base/result.ts';
import type { PatchHost, PatchRequest, ReviewOutcome } from '../../patch/patchHost.ts';
import type { PatchApplier } from './patchApplier.ts';

/** Reviews in the editor. What a person accepts is applied through {@link PatchApplier.applyReviewed}. */
export interface PatchReviews {
  open(request: PatchRequest, signal: AbortSignal): Promise<ReviewOutcome>;
  /** What became, since the last call, of reviews whose calls had ended; each is given once. */
  takeNotes(): Promise<readonly string[]>;
}

/** Applies the runtime's patches in the editor; without `reviews` there is nobody to ask. */
export function createEditorPatchHost(
  applier: Pick<PatchApplier, 'files' | 'apply'>,
  reviews?: PatchReviews,
): PatchHost {
  return {
    files: applier.files,
    async apply(request) {
      const applied = await applier.apply(request);
      const notes = applied.ok ? ((await reviews?.takeNotes()) ?? []) : [];
      return applied.ok ? ok({ notes: [...applied.value.notes, ...notes] }) : applied;
    },
    ...(reviews === undefined ? {} : { review: (request, signal) => reviews.open(request, signal) }),
  };
}
