import * as vscode from 'vscode';
import { DisposableStore, toDisposable } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { ReviewTarget } from '../../patch/review/review.ts';
import { hunksOf } from '../../patch/review/reviewFile.ts';
import { fileItem, hunkItem, reviewItem } from './reviewItems.ts';
import type { Reviews } from './reviews.ts';
import { count } from './reviewWords.ts';

export const reviewsView = 'cordon.patchReviews';

const refreshDelayMs = 100;

/** The view "Patch Reviews": reviews, their files, the files' hunks. */
export class ReviewTree implements vscode.TreeDataProvider<ReviewTarget>, Disposable {
  readonly #reviews: Reviews;
  readonly #store = new DisposableStore();
  readonly #didChange = this.#store.add(new vscode.EventEmitter<undefined>());
  readonly #view: vscode.TreeView<ReviewTarget>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly onDidChangeTreeData = this.#didChange.event;

  constructor(reviews: Reviews) {
    this.#reviews = reviews;
    this.#view = this.#store.add(
      vscode.window.createTreeView(reviewsView, { treeDataProvider: this, showCollapseAll: true }),
    );
    this.#store.add(reviews.onDidChange(() => this.#refreshSoon()));
    this.#store.add(toDisposable(() => clearTimeout(this.#timer)));
    this.#updateBadge();
  }

  get selection(): ReviewTarget | undefined {
    return this.#view.selection[0];
  }

  getChildren(target?: ReviewTarget): ReviewTarget[] {
    if (target === undefined) {
      return this.#reviews.list().map(({ id }) => ({ reviewId: id }));
    }
    const { reviewId, file: index } = target;
    const files = this.#reviews.get(reviewId)?.files ?? [];
    if (index === undefined) {
      return files.map((_, file) => ({ reviewId, file }));
    }
    const file = files[index];
    return file === undefined ? [] : hunksOf(file).map((_, hunk) => ({ reviewId, file: index, hunk }));
  }

  getParent({ reviewId, file, hunk }: ReviewTarget): ReviewTarget | undefined {
    return hunk !== undefined ? { reviewId, file } : file !== undefined ? { reviewId } : undefined;
  }

  getTreeItem(target: ReviewTarget): vscode.TreeItem {
    const { reviewId, file: index, hunk } = target;
    const review = this.#reviews.get(reviewId);
    if (review !== undefined && index === undefined) {
      return reviewItem(review, this.#reviews.hasCaller(reviewId));
    }
    const file = review?.files[index ?? 0];
    if (review === undefined || index === undefined || file === undefined) {
      // Decided between two refreshes.
      return new vscode.TreeItem('');
    }
    const item = hunk === undefined ? undefined : hunksOf(file)[hunk];
    return item === undefined ? fileItem(review, index, file) : hunkItem(review, target, item, file);
  }

  dispose(): void {
    this.#store.dispose();
  }

  /** Typing changes a review with every key. */
  #refreshSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#didChange.fire(undefined);
      this.#updateBadge();
    }, refreshDelayMs);
  }

  #updateBadge(): void {
    const waiting = this.#reviews.list().length;
    this.#view.badge =
      waiting === 0
        ? undefined
        : { value: waiting, tooltip: `${count(waiting, 'patch', 'patches')} to review` };
  }
}
