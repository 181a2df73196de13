import { basename } from 'node:path';
import * as vscode from 'vscode';
import { hunkLines } from '../../patch/review/hunkLines.ts';
import type { Review, ReviewTarget } from '../../patch/review/review.ts';
import { resultPath } from '../../patch/review/reviewFile.ts';
import type { Reviews } from './reviews.ts';
import { onMachine } from '../machineWords.ts';
import { addressOf, fileUriOf, locate, uriOf } from './reviewUris.ts';
import type { LocatedFile } from './reviewUris.ts';

export interface OpenOptions {
  readonly preview?: boolean;
  readonly preserveFocus?: boolean;
}

/** The editor's diffs of reviews. They open only when the person, or a setting of theirs, asks for it. */
export class ReviewDiffs {
  readonly #reviews: Reviews;

  constructor(reviews: Reviews) {
    this.#reviews = reviews;
  }

  /** Opens the whole patch, one file below the other. */
  async openReview(review: Review): Promise<void> {
    const resources = review.files.map((file) => [
      fileUriOf(review, file),
      file.change.kind === 'create' ? undefined : uriOf(review, file, 'before'),
      file.change.kind === 'delete' ? undefined : uriOf(review, file, 'right'),
    ]);
    await vscode.commands.executeCommand('vscode.changes', labelOf(review), resources);
  }

  /** Opens one file, at one hunk when the target names one. */
  async openFile({ reviewId, file: index = 0, hunk }: ReviewTarget, options: OpenOptions): Promise<void> {
    const review = this.#reviews.get(reviewId);
    const file = review?.files[index];
    if (review === undefined || file === undefined) {
      return;
    }
    const lines = hunk === undefined ? undefined : hunkLines(file, 'right')[hunk];
    const selection = lines && new vscode.Range(lines.start, 0, lines.start, 0);
    await vscode.commands.executeCommand(
      'vscode.diff',
      uriOf(review, file, 'before'),
      uriOf(review, file, 'right'),
      `${onMachine(review)}${basename(resultPath(file.change))} (Patch Review)`,
      {
        ...options,
        ...(selection === undefined ? {} : { selection }),
      } satisfies vscode.TextDocumentShowOptions,
    );
  }

  /** The reviewed file in the active diff. */
  activeFile(): LocatedFile | undefined {
    const input = activeTab()?.input;
    return input instanceof vscode.TabInputTextDiff ? locate(this.#reviews, input.modified) : undefined;
  }

  /** The review in the active diff, be it of one file or of all. */
  activeReview(): Review | undefined {
    const tab = activeTab();
    return this.activeFile()?.review ?? this.#reviews.list().find((review) => isOfWhole(tab, review));
  }

  /** Closes the diffs of a review. */
  async close(review: Review): Promise<void> {
    const label = labelOf(review);
    // Two patches may have the same name.
    const isLast = this.#reviews.list().every((other) => labelOf(other) !== label);
    const tabs = vscode.window.tabGroups.all
      .flatMap((group) => group.tabs)
      .filter((tab) => isOfReview(tab, review.id) || (isLast && isOfWhole(tab, review)));
    await vscode.window.tabGroups.close(tabs, true);
  }
}

function activeTab(): vscode.Tab | undefined {
  return vscode.window.tabGroups.activeTabGroup.activeTab;
}

function labelOf({ title }: Review): string {
  return `Patch Review: ${title}`;
}

/** The editor has no stable class for the diff of several files; its label is ours with the number of files. */
function isOfWhole(tab: vscode.Tab | undefined, review: Review): boolean {
  return tab?.label.startsWith(`${labelOf(review)} (`) === true;
}

function isOfReview({ input }: vscode.Tab, reviewId: string): boolean {
  const uri =
    input instanceof vscode.TabInputTextDiff
      ? input.modified
      : input instanceof vscode.TabInputText
        ? input.uri
        : undefined;
  return uri !== undefined && addressOf(uri)?.reviewId === reviewId;
}
