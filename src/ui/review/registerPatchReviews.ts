import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { PatchReviews } from '../patch/editorPatchHost.ts';
import type { PatchApplier } from '../patch/patchApplier.ts';
import { ReviewStore } from '../../patch/review/reviewStore.ts';
import { registerReviewCommands } from './reviewCommands.ts';
import { registerReviewDecorations } from './reviewDecorations.ts';
import { ReviewDiffs } from './reviewDiffs.ts';
import { ReviewDocuments } from './reviewDocuments.ts';
import { ReviewFileSystem } from './reviewFileSystem.ts';
import { placeOfPatch } from './reviewPlaces.ts';
import type { PatchPlaces } from './reviewPlaces.ts';
import { Reviews } from './reviews.ts';
import type { ReviewNotice, ReviewsOptions } from './reviews.ts';
import { createReviewStatusBar } from './reviewStatusBar.ts';
import { ReviewTargets } from './reviewTargets.ts';
import { ReviewTree } from './reviewTree.ts';
import { reviewScheme } from './reviewUris.ts';
import { SavedReviews } from './savedReviews.ts';
import { watchReviewedFiles } from './watchReviewedFiles.ts';
import { withoutLinks } from '../oneLine.ts';

export interface PatchReviewsOptions extends Pick<ReviewsOptions, 'accessUnder' | 'log'> {
  /** Where reviews are kept, absolute. */
  readonly folder: string;
  readonly applier: Pick<PatchApplier, 'files' | 'applyReviewed'>;
  readonly places: PatchPlaces;
}

/** Builds the reviews of patches with everything that a person sees of them. */
export function registerPatchReviews({
  folder,
  applier,
  places,
  accessUnder,
  log,
}: PatchReviewsOptions): Disposable & PatchReviews {
  const store = new DisposableStore();
  const reviews = store.add(
    new Reviews({
      files: applier.files,
      apply: (request) => applier.applyReviewed(request),
      accessUnder,
      placeOf: (review) => placeOfPatch(review, places),
      saved: new SavedReviews(new ReviewStore(folder, log), log),
      log,
    }),
  );
  const diffs = new ReviewDiffs(reviews);
  const files = store.add(new ReviewFileSystem(reviews));
  store.add(vscode.workspace.registerFileSystemProvider(reviewScheme, files, { isCaseSensitive: true }));
  const documents = store.add(new ReviewDocuments(reviews));
  const tree = store.add(new ReviewTree(reviews));
  const targets = new ReviewTargets(reviews, tree, diffs);
  store.add(registerReviewDecorations(reviews));
  store.add(createReviewStatusBar(reviews));
  store.add(registerReviewCommands({ reviews, targets, diffs, documents }));
  store.add(watchReviewedFiles(reviews));
  store.add(setActiveContext(reviews, diffs));
  store.add(reviews.onDidOpen(({ id }) => void preview(diffs, id)));
  store.add(reviews.onDidClose((review) => void diffs.close(review)));
  store.add(reviews.onDidApply(({ done }) => showProgress(done)));
  store.add(reviews.onDidNotice((notice) => void tell(notice, diffs)));
  return {
    open: (request, signal) => reviews.open(request, signal),
    takeNotes: () => reviews.takeNotes(),
    dispose: () => store.dispose(),
  };
}

/** One reused tab, and the focus stays where it is. */
async function preview(diffs: ReviewDiffs, reviewId: string): Promise<void> {
  if (vscode.workspace.getConfiguration('cordon.patch').get<boolean>('openPreview') === true) {
    await diffs.openFile({ reviewId, file: 0 }, { preview: true, preserveFocus: true });
  }
}

/** The diff of a whole patch offers no condition of its own for our buttons. */
function setActiveContext(reviews: Reviews, diffs: ReviewDiffs): Disposable {
  const store = new DisposableStore();
  let last = false;
  const update = (): void => {
    const isActive = diffs.activeReview() !== undefined;
    if (isActive !== last) {
      last = isActive;
      void vscode.commands.executeCommand('setContext', 'cordon.isPatchReviewActive', isActive);
    }
  };
  store.add(vscode.window.tabGroups.onDidChangeTabs(update));
  store.add(vscode.window.tabGroups.onDidChangeTabGroups(update));
  store.add(reviews.onDidChange(update));
  return store;
}

const progressDelayMs = 1_000;

function showProgress(done: Promise<unknown>): void {
  const settled = done.catch(() => {});
  const timer = setTimeout(() => {
    void vscode.window.withProgress(
      { location: vscode.ProgressLocation.Window, title: 'Applying patch…' },
      () => settled,
    );
  }, progressDelayMs);
  void settled.then(() => clearTimeout(timer));
}

async function tell({ kind, review }: ReviewNotice, diffs: ReviewDiffs): Promise<void> {
  const open = 'Open Review';
  const { title, state } = review;
  const error = state.kind === 'obsolete' ? state.error : state.failure;
  const answer =
    kind === 'revised'
      ? await vscode.window.showInformationMessage(
          withoutLinks(
            `The files of "${title}" changed, and with them what would be applied. Look at it again, then decide.`,
          ),
          open,
        )
      : kind === 'obsolete'
        ? await vscode.window.showWarningMessage(
            withoutLinks(`The patch "${title}" no longer applies: ${error?.message ?? ''}`),
            open,
          )
        : await vscode.window.showErrorMessage(
            withoutLinks(`The patch "${title}" was not applied: ${error?.message ?? ''}`),
            open,
          );
  if (answer === open) {
    await diffs.openReview(review);
  }
}
