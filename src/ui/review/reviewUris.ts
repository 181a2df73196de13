import * as vscode from 'vscode';
import type { PlannedChange } from '../../patch/plan/plan.ts';
import type { Review, ReviewTarget } from '../../patch/review/review.ts';
import { resultPath } from '../../patch/review/reviewFile.ts';
import type { ReviewFile } from '../../patch/review/reviewFile.ts';
import { authorityOf } from '../machineWords.ts';
import type { Reviews } from './reviews.ts';

export const reviewScheme = 'cordon-review';

/** `before`: what the file holds; `right`: what will be applied. */
export type DiffSide = 'before' | 'right';

export interface ReviewAddress {
  readonly reviewId: string;
  readonly side: DiffSide;
}

/**
 * A side of a reviewed file as a document. It has the file's own path, so that its language is known, and names the
 * machine when that is another one.
 */
export function uriOf(review: Review, { change }: ReviewFile, side: DiffSide): vscode.Uri {
  const query = new URLSearchParams({ review: review.id, side }).toString();
  return placeUri(review, pathOf(change, side)).with({ scheme: reviewScheme, query });
}

/** What the editor takes the reviewed file for: the file itself, or for one of another machine only our document. */
export function fileUriOf(review: Review, file: ReviewFile): vscode.Uri {
  return review.machine === undefined
    ? vscode.Uri.file(resultPath(file.change))
    : uriOf(review, file, file.change.kind === 'delete' ? 'before' : 'right');
}

/** The number of the review tells machines apart whose names come to the same authority. */
function placeUri(review: Review, path: string): vscode.Uri {
  return review.machine === undefined
    ? vscode.Uri.file(path)
    : vscode.Uri.from({ scheme: reviewScheme, authority: authorityOf(review), path });
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
  const index = review.files.findIndex((file) => isSamePlace(uriOf(review, file, side), uri));
  const file = review.files[index];
  return file && { review, file, side, target: { reviewId, file: index } };
}

/** On the same machine, too; as text, because the editor spells some paths anew. */
function isSamePlace(a: vscode.Uri, b: vscode.Uri): boolean {
  return a.with({ query: '' }).toString() === b.with({ query: '' }).toString();
}
