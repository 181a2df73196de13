import * as vscode from 'vscode';
import { hunkAt } from '../../patch/review/hunkLines.ts';
import type { ReviewTarget } from '../../patch/review/review.ts';
import type { ReviewDiffs } from './reviewDiffs.ts';
import type { Reviews } from './reviews.ts';
import type { ReviewTree } from './reviewTree.ts';
import { locate } from './reviewUris.ts';
import type { LocatedFile } from './reviewUris.ts';
import { onMachine } from '../machineWords.ts';
import { reviewWords } from './reviewWords.ts';

/** What keys pressed in the tree give as argument. */
const selectionWord = 'selection';

/** Finds what a command is about: a row of the tree, the active diff, or what the person picks. */
export class ReviewTargets {
  readonly #reviews: Reviews;
  readonly #tree: ReviewTree;
  readonly #diffs: ReviewDiffs;

  constructor(reviews: Reviews, tree: ReviewTree, diffs: ReviewDiffs) {
    this.#reviews = reviews;
    this.#tree = tree;
    this.#diffs = diffs;
  }

  /** What was given, or is selected in the tree. */
  given(argument: unknown): ReviewTarget | undefined {
    return argument === selectionWord ? this.#tree.selection : isTarget(argument) ? argument : undefined;
  }

  /** A review, if need be the one that the person picks. */
  async review(argument: unknown, question: string): Promise<ReviewTarget | undefined> {
    const found =
      this.given(argument)?.reviewId ?? this.#fileOf(argument)?.review.id ?? this.#diffs.activeReview()?.id;
    return found === undefined ? this.#pick(question) : { reviewId: found };
  }

  file(argument: unknown): ReviewTarget | undefined {
    return this.given(argument) ?? this.#fileOf(argument)?.target;
  }

  /** The hunk at the cursor when none was given. */
  hunk(argument: unknown): ReviewTarget | undefined {
    const given = this.given(argument);
    if (given !== undefined) {
      return given;
    }
    const editor = vscode.window.activeTextEditor;
    const located = editor && locate(this.#reviews, editor.document.uri);
    if (located === undefined) {
      return undefined;
    }
    const hunk = hunkAt(located.file, editor?.selection.active.line ?? 0, located.side);
    return hunk === undefined ? undefined : { ...located.target, hunk };
  }

  #fileOf(argument: unknown): LocatedFile | undefined {
    const named = argument instanceof vscode.Uri ? locate(this.#reviews, argument) : undefined;
    return named ?? this.#diffs.activeFile();
  }

  async #pick(question: string): Promise<ReviewTarget | undefined> {
    const items = this.#reviews.list().map((review) => ({
      label: review.title,
      description: reviewWords(review, this.#reviews.hasCaller(review.id)),
      detail: onMachine(review) + review.cwd,
      reviewId: review.id,
    }));
    if (items.length <= 1) {
      return items[0] === undefined ? noReview() : { reviewId: items[0].reviewId };
    }
    const picked = await vscode.window.showQuickPick(items, { placeHolder: question });
    return picked && { reviewId: picked.reviewId };
  }
}

function noReview(): undefined {
  void vscode.window.showInformationMessage('No patch waits for review now.');
  return undefined;
}

function isTarget(argument: unknown): argument is ReviewTarget {
  return typeof argument === 'object' && argument !== null && 'reviewId' in argument;
}
