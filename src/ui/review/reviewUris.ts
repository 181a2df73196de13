import * as vscode from 'vscode';
import type { PlannedChange } from '../../patch/plan/plan.ts';
import type { Review, ReviewTarget } from '../../patch/review/review.ts';
import { resultPath } from '../../patch/review/reviewFile.ts';
import type { ReviewFile } from '../../patch/review/reviewFile.ts';
import type { Reviews } from './reviews.ts';

export const reviewScheme = 'cordon-review';

/** `before`: what the file holds; `right`: what will be applied. */
export type DiffSide = 'before' | 'right';

export interface ReviewAddress {
  readonly reviewId: string;
  readonly side: DiffSide;
}

/** A side of a reviewed file as a document. It has the file's own path, so that its language is known. */
export function uriOf(review: Review, { change }: ReviewFile, side: DiffSide): vscode.Uri {
  const path = pathOf(change, side);
  const query = new URLSearchParams({ review: review.id, side }).toString();
  return vscode.Uri.file(path).with({ scheme: reviewScheme, query });
}

function pathOf(change: PlannedChange, side: DiffSide): string {
  return side === 'before' ? change.path : resultPath(change);
}

/** What a document of ours shows; undefined for any other. */
export function addressOf(uri: vscode.Uri): ReviewAddress | undefined {
  if (uri.scheme !== reviewScheme) {
    return undefined;
  }
  const query = new URLSearchParams(uri.query);
  const reviewId = query.get('review');
  const side = query.get('side');
  return reviewId !== null && (side === 'before' || side === 'right') ? { reviewId, side } : undefined;
}

export interface LocatedFile {
  readonly review: Review;
  readonly file: ReviewFile;
  readonly side: DiffSide;
  readonly target: ReviewTarget & { readonly file: number };
}

/** The reviewed file behind a document; undefined when there is none, or no longer. */
export function locate(reviews: Reviews, uri: vscode.Uri): LocatedFile | undefined {
  const address = addressOf(uri);
  const review = address && reviews.get(address.reviewId);
  if (address === undefined || review === undefined) {
    return undefined;
  }
  const { side, reviewId } = address;
  const path = uri.with({ scheme: 'file' }).fsPath;
  const index = review.files.findIndex(({ change }) => pathOf(change, side) === path);
  const file = review.files[index];
  return file && { review, file, side, target: { reviewId, file: index } };
}
