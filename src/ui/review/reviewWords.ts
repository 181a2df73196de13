import { linesOf, statusOf } from '../../patch/review/pieces.ts';
import type { Hunk, HunkStatus } from '../../patch/review/pieces.ts';
import type { Review } from '../../patch/review/review.ts';
import { decisionOf, hunksOf, isAsProposed, isUndecided } from '../../patch/review/reviewFile.ts';
import type { Decision, ReviewFile } from '../../patch/review/reviewFile.ts';

// What a person reads and hears about reviews.

export function count(number: number, thing: string, plural = `${thing}s`): string {
  return `${number} ${number === 1 ? thing : plural}`;
}

/** `hasCaller`: an agent waits for the outcome. */
export function reviewWords(review: Review, hasCaller: boolean): string {
  if (review.state.kind === 'obsolete') {
    return 'no longer applies';
  }
  if (review.state.failure !== undefined) {
    return 'could not be applied';
  }
  const waiting = review.files.filter((file) => decisionOf(file) === 'pending').length;
  const words =
    waiting === 0
      ? 'decided, not yet applied'
      : waiting === review.files.length
        ? count(waiting, 'file')
        : `${waiting} of ${count(review.files.length, 'file')} left`;
  // What has no text is a restore, which no agent asked for.
  return hasCaller || review.text === undefined ? words : `${words} · no agent waits`;
}

export function fileWords(file: ReviewFile): string {
  const hunks = hunksOf(file);
  const kind = { create: 'new', update: '', delete: 'deleted', move: 'moved' }[file.change.kind];
  const edited = isEdited(file) ? 'edited' : '';
  const state =
    hunks.length === 0
      ? wordsOf(file.decision)
      : decisionOf(file) === 'pending'
        ? hunksWords(hunks)
        : wordsOf(decisionOf(file));
  return [kind, state, edited].filter((word) => word !== '').join(' · ');
}

/** Whether the person typed something that no decision explains. */
function isEdited(file: ReviewFile): boolean {
  const pieces = file.pieces ?? [];
  return (
    !isAsProposed(file) &&
    pieces.some(
      (piece) =>
        piece.right.join('') !== piece.proposed.join('') &&
        (piece.kind === 'gap' || statusOf(piece) !== 'rejected'),
    ) &&
    linesOf(pieces, 'right').join('') !== linesOf(pieces, 'before').join('')
  );
}

function hunksWords(hunks: readonly Hunk[]): string {
  const left = hunks.filter(isUndecided).length;
  return left === hunks.length ? count(left, 'hunk') : `${left} of ${count(hunks.length, 'hunk')} left`;
}

function wordsOf(decision: Decision): string {
  return decision === 'pending' ? '' : decision;
}

export const statusWords: Readonly<Record<HunkStatus, string>> = {
  pending: 'waiting',
  accepted: 'accepted',
  rejected: 'rejected',
  changed: 'edited, waiting',
};

/** The line that tells most about a hunk. */
export function hunkText({ before, proposed }: Hunk): string {
  const lines = proposed.length > 0 ? proposed : before;
  return (lines.find((line) => /\w/.test(line)) ?? lines[0] ?? '').trim();
}

export function hunkSize({ before, proposed }: Hunk): string {
  const added = proposed.length > 0 ? `+${proposed.length}` : '';
  const removed = before.length > 0 ? `−${before.length}` : '';
  return [added, removed].filter((word) => word !== '').join(' ');
}
