import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import type { WriteRefusal } from '../../sandbox/writeAccess.ts';
import type { PatchError } from '../patchError.ts';
import type { Plan, PlannedChange } from '../plan/plan.ts';
import { mergeEdits } from './mergeEdits.ts';
import { linesOf, sameLines, withRight } from './pieces.ts';
import type { Hunk, Piece } from './pieces.ts';
import type { Review } from './review.ts';
import {
  bytesAfter,
  bytesBefore,
  createReviewFile,
  hunksOf,
  isAsProposed,
  resultPath,
} from './reviewFile.ts';
import type { ReviewFile } from './reviewFile.ts';

/** A patch that was planned anew, on the files of now. */
export interface NewPlan {
  readonly plan: Plan;
  readonly refusals: readonly WriteRefusal[];
}

/**
 * The review on a new plan, with everything that the person did. Fails when an edit of the person and a change of
 * the file meet in the same lines.
 */
export function carryOver(review: Review, { plan, refusals }: NewPlan): Result<Review, PatchError> {
  const old = new Map(review.files.map((file) => [keyOf(file), file]));
  const files: ReviewFile[] = [];
  for (const file of plan.changes.map(createReviewFile)) {
    const former = old.get(keyOf(file));
    old.delete(keyOf(file));
    const carried = former === undefined ? ok(file) : carryFile(former, file);
    if (!carried.ok) {
      return carried;
    }
    files.push(carried.value);
  }
  const lost = [...old.values()].find((file) => !isAsProposed(file));
  return lost === undefined ? ok({ ...review, plan, refusals, files }) : fail(conflict(lost));
}

function keyOf({ change }: ReviewFile): string {
  return `${change.path}\0${resultPath(change)}`;
}

function carryFile(former: ReviewFile, file: ReviewFile): Result<ReviewFile, PatchError> {
  const { decision, comment } = former;
  if (isSameFile(former, file)) {
    return ok({ ...former, change: file.change });
  }
  const pieces = carryPieces(former, file);
  return pieces.ok ? ok({ ...file, decision, comment, pieces: pieces.value }) : pieces;
}

function carryPieces(
  former: ReviewFile,
  { pieces, change }: ReviewFile,
): Result<readonly Piece[] | undefined, PatchError> {
  if (former.pieces === undefined || isAsProposed(former)) {
    return ok(pieces && carryMarks(hunksOf(former), pieces));
  }
  const merged =
    pieces &&
    mergeEdits(
      linesOf(former.pieces, 'right'),
      linesOf(former.pieces, 'proposed'),
      linesOf(pieces, 'proposed'),
    );
  return pieces === undefined || merged === undefined
    ? fail(conflict({ change }))
    : ok(carryMarks(hunksOf(former), withRight(pieces, merged)));
}

/** Marks and comments go to the hunk that takes and gives the same lines. */
function carryMarks(former: readonly Hunk[], pieces: readonly Piece[]): readonly Piece[] {
  const waiting = [...former];
  return pieces.map((piece) => {
    if (piece.kind === 'gap') {
      return piece;
    }
    const index = waiting.findIndex((hunk) => isSameHunk(hunk, piece));
    const [match] = index === -1 ? [] : waiting.splice(index, 1);
    return match === undefined ? piece : { ...piece, isAccepted: match.isAccepted, comment: match.comment };
  });
}

function isSameHunk(a: Hunk, b: Hunk): boolean {
  return sameLines(a.before, b.before) && sameLines(a.proposed, b.proposed);
}

function conflict({ change }: Pick<ReviewFile, 'change'>): PatchError {
  const path = resultPath(change);
  return {
    kind: 'stale',
    path,
    message: `${path} changed while its patch waited for review, in or beside lines that the person had edited in the review.`,
    hint: 'Read the file again and make a new patch.',
  };
}

/** Whether both reviews propose to take and to give the same, so that a yes to one is a yes to the other. */
export function proposesTheSame(a: Review, b: Review): boolean {
  return (
    a.files.length === b.files.length &&
    a.files.every((file, index) => isSameProposal(file, b.files[index] as ReviewFile)) &&
    b.refusals.every(({ path, reason }) =>
      a.refusals.some((known) => known.path === path && known.reason === reason),
    )
  );
}

function isSameProposal(a: ReviewFile, b: ReviewFile): boolean {
  if (
    keyOf(a) !== keyOf(b) ||
    a.change.kind !== b.change.kind ||
    !isSameContent(bytesReplaced(a.change), bytesReplaced(b.change))
  ) {
    return false;
  }
  const hunks = hunksOf(a);
  const others = hunksOf(b);
  return hunks.length === 0 || others.length === 0
    ? isSameFile(a, b)
    : hunks.length === others.length && hunks.every((hunk, index) => isSameHunk(hunk, others[index] as Hunk));
}

function isSameFile(a: ReviewFile, b: ReviewFile): boolean {
  return (
    a.change.kind === b.change.kind &&
    isSameContent(bytesBefore(a.change), bytesBefore(b.change)) &&
    isSameContent(bytesAfter(a.change), bytesAfter(b.change))
  );
}

/** What a move takes the place of. */
function bytesReplaced(change: PlannedChange): Buffer | undefined {
  return change.kind === 'move' ? change.replaced?.bytes : undefined;
}

function isSameContent(a: Buffer | undefined, b: Buffer | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.equals(b);
}
