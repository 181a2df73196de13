import * as z from 'zod';
import type { Plan } from '../plan/plan.ts';
import {
  contentHash,
  contentNamed,
  contentsOf,
  keepContent,
  restoreChange,
  storeChange,
  storedChange,
  storedNotes,
  storedPatchError,
  storedRefusal,
  storedSummary,
  storeSummary,
} from '../plan/storedPlan.ts';
import type { Blobs } from '../plan/storedPlan.ts';
import { splitLines } from '../text/lines.ts';
import { withRight } from './pieces.ts';
import type { Review } from './review.ts';
import { createReviewFile, hunksOf, mapHunks, textRight } from './reviewFile.ts';
import type { ReviewFile } from './reviewFile.ts';

/** A review on disk; its contents lie beside it. */
export const storedReviewSchema = z.object({
  /** 2: of a patch for another machine, which a build that only knows 1 must not take for one of this machine. */
  version: z.union([z.literal(1), z.literal(2)]),
  id: z.string(),
  createdAt: z.number(),
  title: z.string(),
  text: z.string().optional(),
  cwd: z.string(),
  root: z.string(),
  machine: z.object({ environment: z.string(), folder: z.string() }).optional(),
  summary: storedSummary,
  notes: storedNotes,
  refusals: z.array(storedRefusal),
  comment: z.string().optional(),
  state: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('waiting'), failure: storedPatchError.optional() }),
    z.object({ kind: z.literal('obsolete'), error: storedPatchError }),
  ]),
  files: z.array(
    z.object({
      change: storedChange,
      decision: z.enum(['pending', 'accepted', 'rejected']),
      comment: z.string().optional(),
      right: contentHash.optional(),
      hunks: z.array(z.object({ isAccepted: z.boolean(), comment: z.string().optional() })),
    }),
  ),
});

export type StoredReview = z.infer<typeof storedReviewSchema>;

export function storeReview(review: Review): { readonly stored: StoredReview; readonly blobs: Blobs } {
  const blobs: Blobs = new Map();
  const { plan, files, refusals, ...rest } = review;
  const stored: StoredReview = {
    version: review.machine === undefined ? 1 : 2,
    ...rest,
    summary: storeSummary(plan.summary),
    notes: [...plan.notes],
    refusals: [...refusals],
    files: files.map((file) => {
      const right = textRight(file);
      return {
        change: storeChange(file.change, blobs),
        decision: file.decision,
        comment: file.comment,
        right: right === undefined ? undefined : keepContent(Buffer.from(right), blobs),
        hunks: hunksOf(file).map(({ isAccepted, comment }) => ({ isAccepted, comment })),
      };
    }),
  };
  return { stored, blobs };
}

/** The contents that a stored review needs. */
export function blobsOf({ files }: StoredReview): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { change: item, right } of files) {
    contentsOf(item).forEach((name) => found.add(name));
    if (right !== undefined) {
      found.add(right);
    }
  }
  return found;
}

export function restoreReview(stored: StoredReview, blobs: Blobs): Review {
  const { id, createdAt, title, text, cwd, root, machine, refusals, comment, state } = stored;
  const { summary, notes } = stored;
  const restored = stored.files.map((file): ReviewFile => {
    const fresh = createReviewFile(restoreChange(file.change, blobs));
    const lines = file.right === undefined ? [] : splitLines(contentNamed(file.right, blobs).toString());
    const pieces = fresh.pieces && withRight(fresh.pieces, lines);
    return {
      ...fresh,
      decision: file.decision,
      comment: file.comment,
      pieces: mapHunks({ pieces }, (hunk, index) => ({ ...hunk, ...file.hunks[index] })),
    };
  });
  const plan: Plan = { changes: restored.map((file) => file.change), summary, notes };
  return { id, createdAt, title, text, cwd, root, machine, refusals, comment, state, plan, files: restored };
}
