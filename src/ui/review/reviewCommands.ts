import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import { unifiedDiffOfPlan } from '../../patch/diff/unifiedDiff.ts';
import { formatPatchError } from '../../patch/plan/formatPatchError.ts';
import { concludeReview } from '../../patch/review/concludeReview.ts';
import { hunkLines } from '../../patch/review/hunkLines.ts';
import { commentOf } from '../../patch/review/review.ts';
import type { Review, ReviewTarget } from '../../patch/review/review.ts';
import { decisionOf, hunksOf, isUndecided } from '../../patch/review/reviewFile.ts';
import { commandIds } from '../commands/commandIds.ts';
import type { ReviewDiffs } from './reviewDiffs.ts';
import type { ReviewDocuments } from './reviewDocuments.ts';
import type { Reviews } from './reviews.ts';
import type { ReviewTargets } from './reviewTargets.ts';
import { withoutLinks } from '../oneLine.ts';

export interface ReviewCommandOptions {
  readonly reviews: Reviews;
  readonly targets: ReviewTargets;
  readonly diffs: ReviewDiffs;
  readonly documents: ReviewDocuments;
}

/** Registers what a person can do with reviews. */
export function registerReviewCommands(options: ReviewCommandOptions): Disposable {
  const { reviews, targets, diffs, documents } = options;
  const store = new DisposableStore();
  const on = (id: string, run: (argument: unknown) => Promise<void> | void): void => {
    store.add(vscode.commands.registerCommand(id, run));
  };

  const accept = async (target: ReviewTarget | undefined): Promise<void> => {
    if (target !== undefined) {
      await documents.flush(target.reviewId);
      await reviews.accept(target);
    }
  };
  const reject = async (target: ReviewTarget | undefined): Promise<void> => {
    if (target === undefined) {
      return;
    }
    const words = target.file === undefined ? await askWhy(reviews.get(target.reviewId)) : '';
    if (words !== undefined) {
      await documents.flush(target.reviewId);
      await reviews.reject(target, words);
    }
  };
  /** At the cursor, the next hunk that waits comes after the one that was decided. */
  const decideHunk = async (argument: unknown, decide: typeof accept): Promise<void> => {
    const target = targets.hunk(argument);
    if (target === undefined) {
      void vscode.window.showInformationMessage('Put the cursor into a hunk of a patch review first.');
      return;
    }
    await decide(target);
    if (targets.given(argument) === undefined) {
      await goToHunk(diffs, reviews.get(target.reviewId), target, 1, ({ file }) => file === target.file);
    }
  };

  on(commandIds.openPatchReview, async (argument) => {
    const target =
      targets.given(argument) ?? (await targets.review(undefined, 'Which patch do you want to review?'));
    const review = target && reviews.get(target.reviewId);
    if (review === undefined) {
      return;
    }
    await (target?.file === undefined && review.files.length > 1
      ? diffs.openReview(review)
      : diffs.openFile({ file: 0, ...target, reviewId: review.id }, { preview: true }));
  });
  on(commandIds.acceptPatch, async (argument) =>
    accept(await targets.review(argument, 'Which patch do you want to accept?')),
  );
  on(commandIds.rejectPatch, async (argument) =>
    reject(await targets.review(argument, 'Which patch do you want to reject?')),
  );
  on(commandIds.acceptFile, (argument) => accept(targets.file(argument)));
  on(commandIds.rejectFile, (argument) => reject(targets.file(argument)));
  on(commandIds.acceptHunk, (argument) => decideHunk(argument, accept));
  on(commandIds.rejectHunk, (argument) => decideHunk(argument, reject));
  on(commandIds.nextHunk, () => goFromCursor(options, 1));
  on(commandIds.previousHunk, () => goFromCursor(options, -1));
  on(commandIds.copyPatchAsDiff, async (argument) => {
    const target = await targets.review(argument, 'Which patch do you want to copy?');
    const review = target && reviews.get(target.reviewId);
    if (review !== undefined) {
      await documents.flush(review.id);
      await copyAsDiff(reviews.get(review.id) ?? review);
    }
  });
  on(commandIds.commentForAgent, async (argument) => {
    const target =
      targets.given(argument) ?? (await targets.review(argument, 'Which patch do you want to comment on?'));
    const review = target && reviews.get(target.reviewId);
    if (target === undefined || review === undefined) {
      return;
    }
    const words = await vscode.window.showInputBox({
      title: `Comment on ${review.title}`,
      prompt: 'The agent reads it when the patch is decided. Empty removes it.',
      value: commentOf(review, target) ?? '',
    });
    if (words !== undefined) {
      reviews.comment(target, words);
    }
  });
  on(commandIds.closeObsoleteReview, async (argument) => {
    const target = targets.given(argument);
    if (target !== undefined && reviews.get(target.reviewId)?.state.kind === 'obsolete') {
      await reviews.reject(target);
    }
  });
  return store;
}

/** Copies what would be applied now: rejected hunks are not in it, what the person typed is. */
async function copyAsDiff(review: Review): Promise<void> {
  const conclusion = concludeReview(review);
  if (!conclusion.ok) {
    void vscode.window.showErrorMessage(withoutLinks(formatPatchError(conclusion.error)));
    return;
  }
  await vscode.env.clipboard.writeText(unifiedDiffOfPlan(conclusion.value.plan));
  vscode.window.setStatusBarMessage('Copied the patch as a diff.', 5_000);
}

/** Undefined when the person thought better of it. */
async function askWhy(review: Review | undefined): Promise<string | undefined> {
  if (review === undefined || review.state.kind === 'obsolete') {
    return '';
  }
  return vscode.window.showInputBox({
    title: `Reject ${review.title}`,
    prompt: 'Nothing of what you have not accepted is applied.',
    placeHolder: 'What should the agent do instead? (optional)',
  });
}

async function goFromCursor(
  { reviews, targets, diffs }: ReviewCommandOptions,
  direction: 1 | -1,
): Promise<void> {
  const active = diffs.activeFile();
  if (active !== undefined) {
    const from = targets.hunk(undefined) ?? nearCursor(active.target, active, direction);
    await goToHunk(diffs, reviews.get(active.review.id), from, direction);
  }
}

/** Between two hunks, as if the one behind the cursor had just been left. */
function nearCursor(
  target: ReviewTarget,
  { file, side }: NonNullable<ReturnType<ReviewDiffs['activeFile']>>,
  direction: 1 | -1,
): ReviewTarget {
  const line = vscode.window.activeTextEditor?.selection.active.line ?? 0;
  const above = hunkLines(file, side).filter(({ start }) => start <= line).length;
  return { ...target, hunk: direction === 1 ? above - 1 : above };
}

/** Opens the nearest hunk, or file without hunks, that waits; after the last comes the first. */
async function goToHunk(
  diffs: ReviewDiffs,
  review: Review | undefined,
  from: ReviewTarget,
  direction: 1 | -1,
  isWanted: (stop: ReviewTarget) => boolean = () => true,
): Promise<void> {
  const stops = review === undefined ? [] : stopsOf(review).filter(isWanted);
  const sorted = direction === 1 ? stops : [...stops].reverse();
  const next = sorted.find((stop) => compare(stop, from) * direction > 0) ?? sorted[0];
  if (next !== undefined) {
    await diffs.openFile(next, { preview: true });
  }
}

function stopsOf(review: Review): ReviewTarget[] {
  return review.files.flatMap((item, file): ReviewTarget[] => {
    const hunks = hunksOf(item);
    if (hunks.length === 0) {
      return decisionOf(item) === 'pending' ? [{ reviewId: review.id, file }] : [];
    }
    return hunks.flatMap((hunk, index) =>
      isUndecided(hunk) ? [{ reviewId: review.id, file, hunk: index }] : [],
    );
  });
}

function compare(a: ReviewTarget, b: ReviewTarget): number {
  return (a.file ?? 0) - (b.file ?? 0) || (a.hunk ?? 0) - (b.hunk ?? 0);
}
