import type { WriteRefusal } from '../../sandbox/writeAccess.ts';
import type { PatchRequest } from '../patchHost.ts';
import type { PatchMachine } from '../patchSite.ts';
import type { PatchError } from '../patchError.ts';
import type { Plan } from '../plan/plan.ts';
import {
  acceptFile,
  acceptHunk,
  commentHunk,
  createReviewFile,
  decisionOf,
  hunksOf,
  isUndecided,
  rejectFile,
  rejectHunk,
} from './reviewFile.ts';
import type { ReviewFile } from './reviewFile.ts';

/** A patch that waits for a person: a value, changed by the functions below. */
export interface Review {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly title: string;
  /** The patch as it came; undefined when it was none. */
  readonly text?: string | undefined;
  readonly cwd: string;
  /** The root whose policy judges the writes. */
  readonly root: string;
  /** The other machine that has the files; `root`, `cwd` and every path of the plan are paths there then. */
  readonly machine?: PatchMachine | undefined;
  readonly plan: Plan;
  readonly refusals: readonly WriteRefusal[];
  readonly files: readonly ReviewFile[];
  readonly comment?: string | undefined;
  readonly state: ReviewState;
}

export type ReviewState =
  /** `failure`: why it could not be applied when it was accepted. */
  | { readonly kind: 'waiting'; readonly failure?: PatchError | undefined }
  /** The files changed so that it no longer applies. */
  | { readonly kind: 'obsolete'; readonly error: PatchError };

/** What a decision or a comment is about: a review, one of its files, one hunk of that; both counted from 0. */
export interface ReviewTarget {
  readonly reviewId: string;
  readonly file?: number | undefined;
  readonly hunk?: number | undefined;
}

export function createReview(
  request: PatchRequest,
  { id, createdAt }: { readonly id: string; readonly createdAt: number },
): Review {
  const { title, text, cwd, policy, site, plan, refusals } = request;
  const files = plan.changes.map(createReviewFile);
  return {
    id,
    createdAt,
    title,
    text,
    cwd,
    root: policy.root,
    machine: site && { environment: site.environment, folder: site.folder },
    plan,
    refusals,
    files,
    state: { kind: 'waiting' },
  };
}

/** Accepts the target; of a patch or file, what waits in it. */
export function accept(review: Review, { file, hunk }: ReviewTarget): Review {
  return mapFile(review, file, (item) => {
    if (hunk !== undefined) {
      return acceptHunk(item, hunk);
    }
    return file !== undefined || decisionOf(item) === 'pending' ? acceptFile(item) : item;
  });
}

/** Rejects the target; of a patch, what waits in it. */
export function reject(review: Review, { file, hunk }: ReviewTarget): Review {
  return mapFile(review, file, (item) => {
    if (hunk !== undefined) {
      return rejectHunk(item, hunk);
    }
    if (file !== undefined) {
      return rejectFile(item);
    }
    return decisionOf(item) === 'pending' ? rejectUndecided(item) : item;
  });
}

function rejectUndecided(file: ReviewFile): ReviewFile {
  const hunks = hunksOf(file);
  return hunks.every(isUndecided)
    ? rejectFile(file)
    : hunks.reduce((item, hunk, index) => (isUndecided(hunk) ? rejectHunk(item, index) : item), file);
}

/** What the person has to say to the agent; an empty text takes it back. */
export function comment(review: Review, { file, hunk }: ReviewTarget, text: string): Review {
  const words = text.trim() === '' ? undefined : text.trim();
  if (file === undefined) {
    return { ...review, comment: words };
  }
  return mapFile(review, file, (item) =>
    hunk === undefined ? { ...item, comment: words } : commentHunk(item, hunk, words),
  );
}

export function commentOf(review: Review, { file, hunk }: ReviewTarget): string | undefined {
  if (file === undefined) {
    return review.comment;
  }
  const item = review.files[file];
  return item === undefined || hunk === undefined ? item?.comment : hunksOf(item)[hunk]?.comment;
}

export function isDecided(review: Review): boolean {
  return review.files.every((file) => decisionOf(file) !== 'pending');
}

/** The review with one file, or with each one when `index` is undefined, replaced. */
export function mapFile(
  review: Review,
  index: number | undefined,
  map: (file: ReviewFile) => ReviewFile,
): Review {
  const files = review.files.map((file, at) => (index === undefined || at === index ? map(file) : file));
  return { ...review, files };
}
