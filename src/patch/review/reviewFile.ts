import type { PlannedChange, UpdateChange } from '../plan/plan.ts';
import { decodeText } from '../text/decode.ts';
import type { DecodedText } from '../text/decode.ts';
import { applyEdits, areInOrder, editsBetween, splitLines } from '../text/lines.ts';
import { keepLineEnds } from './keepLineEnds.ts';
import { cutPieces, linesOf, onePiece, sameLines, statusOf, withRight } from './pieces.ts';
import type { Hunk, Piece } from './pieces.ts';

export type Decision = 'pending' | 'accepted' | 'rejected';

/** One file of a review. */
export interface ReviewFile {
  readonly change: PlannedChange;
  /** Of a file that is decided as a whole; for one with hunks they tell. */
  readonly decision: Decision;
  readonly comment?: string | undefined;
  /** The text that will be applied, which the person may edit; undefined when there is none. */
  readonly pieces?: readonly Piece[] | undefined;
}

export function createReviewFile(change: PlannedChange): ReviewFile {
  return { change, decision: 'pending', pieces: piecesOf(change) };
}

function piecesOf(change: PlannedChange): readonly Piece[] | undefined {
  const texts = textsOf(change);
  if (texts === undefined || change.kind === 'delete') {
    return undefined;
  }
  const proposed = splitLines(texts.proposed);
  if (change.kind !== 'update') {
    return onePiece(proposed);
  }
  const before = splitLines(texts.before);
  return cutPieces(before, editsOf(change, before, proposed));
}

function editsOf({ edits }: UpdateChange, before: readonly string[], proposed: readonly string[]) {
  const isExact =
    edits !== undefined && areInOrder(edits, before.length) && sameLines(applyEdits(before, edits), proposed);
  return isExact ? edits : editsBetween(before, proposed);
}

interface Texts {
  readonly before: string;
  readonly proposed: string;
  /** Turns an edited proposal into bytes, in the encoding that the file has. */
  readonly encode: DecodedText['encode'];
}

/** Undefined when a side is no text, or both are not in one encoding. */
function textsOf(change: PlannedChange): Texts | undefined {
  const before = bytesBefore(change);
  const after = bytesAfter(change);
  const old = decodeText(before ?? Buffer.alloc(0));
  const proposed = decodeText(after ?? Buffer.alloc(0));
  if (!old.ok || !proposed.ok) {
    return undefined;
  }
  const encoding = before === undefined ? proposed.value : old.value;
  const isExact = after === undefined || encoding.encode(proposed.value.text)?.equals(after) === true;
  return isExact
    ? { before: old.value.text, proposed: proposed.value.text, encode: (text) => encoding.encode(text) }
    : undefined;
}

/** What the file held; undefined when there was none. */
export function bytesBefore(change: PlannedChange): Buffer | undefined {
  if (change.kind === 'create') {
    return undefined;
  }
  return 'bytes' in change.before ? change.before.bytes : Buffer.from(change.before.entry.target);
}

/** What is proposed; undefined when the file is to go. */
export function bytesAfter(change: PlannedChange): Buffer | undefined {
  return change.kind === 'delete' ? undefined : change.after;
}

/** Where the result will be. */
export function resultPath(change: PlannedChange): string {
  return change.kind === 'move' ? change.toPath : change.path;
}

/** Its name as written in the patch. */
export function resultName(change: PlannedChange): string {
  return change.kind === 'move' ? change.toName : change.name;
}

/** What an editor shows; undefined when it is no text. */
export function textBefore({ change }: ReviewFile): string | undefined {
  return textsOf(change)?.before;
}

/** What will be applied, as text; undefined when it is none. */
export function textRight({ pieces }: ReviewFile): string | undefined {
  return pieces === undefined ? undefined : linesOf(pieces, 'right').join('');
}

export function textProposed({ pieces }: ReviewFile): string | undefined {
  return pieces === undefined ? undefined : linesOf(pieces, 'proposed').join('');
}

/** The bytes of an edited right side; undefined when the file's encoding cannot write them. */
export function encodeRight(file: ReviewFile): Buffer | undefined {
  return textsOf(file.change)?.encode(textRight(file) ?? '');
}

export function hunksOf({ pieces }: ReviewFile): readonly Hunk[] {
  return (pieces ?? []).filter((piece) => piece.kind === 'hunk');
}

/** Whether the right side is the proposal. */
export function isAsProposed({ pieces }: ReviewFile): boolean {
  return (pieces ?? []).every(({ right, proposed }) => sameLines(right, proposed));
}

/** Accepted as soon as nothing waits and something of it is to be applied. */
export function decisionOf(file: ReviewFile): Decision {
  const hunks = hunksOf(file);
  if (hunks.length === 0) {
    return file.decision;
  }
  if (hunks.some(isUndecided)) {
    return 'pending';
  }
  return (file.pieces ?? []).every(({ right, before }) => sameLines(right, before)) ? 'rejected' : 'accepted';
}

export function isUndecided(hunk: Hunk): boolean {
  const status = statusOf(hunk);
  return status === 'pending' || status === 'changed';
}

/** The file with the text that the person made of its right side. */
export function editRight(file: ReviewFile, text: string): ReviewFile {
  if (file.pieces === undefined) {
    return file;
  }
  const current = linesOf(file.pieces, 'right');
  const lines = keepLineEnds(current, text);
  return sameLines(current, lines) ? file : { ...file, pieces: withRight(file.pieces, lines) };
}

/** Accepts what waits; what was rejected as a whole is proposed again. */
export function acceptFile(file: ReviewFile): ReviewFile {
  const accept = decisionOf(file) === 'rejected' ? acceptHunkLines : acceptUndecided;
  return { ...file, decision: 'accepted', pieces: mapHunks(file, accept) };
}

/** Leaves the file as it is, without anything that the person typed. */
export function rejectFile(file: ReviewFile): ReviewFile {
  const pieces = hunksOf(file).length === 0 ? file.pieces : file.pieces?.map((piece) => rejectLines(piece));
  return { ...file, decision: 'rejected', pieces };
}

/** Accepts one hunk, counted from 0; its lines come back if it had been rejected. */
export function acceptHunk(file: ReviewFile, index: number): ReviewFile {
  return { ...file, pieces: mapHunks(file, (hunk, at) => (at === index ? acceptHunkLines(hunk) : hunk)) };
}

/** Takes one hunk back; other edits stay. */
export function rejectHunk(file: ReviewFile, index: number): ReviewFile {
  return { ...file, pieces: mapHunks(file, (hunk, at) => (at === index ? rejectLines(hunk) : hunk)) };
}

export function commentHunk(file: ReviewFile, index: number, comment: string | undefined): ReviewFile {
  return { ...file, pieces: mapHunks(file, (hunk, at) => (at === index ? { ...hunk, comment } : hunk)) };
}

function acceptUndecided(hunk: Hunk): Hunk {
  return isUndecided(hunk) ? { ...hunk, isAccepted: true } : hunk;
}

function acceptHunkLines(hunk: Hunk): Hunk {
  const right = statusOf(hunk) === 'rejected' ? hunk.proposed : hunk.right;
  return { ...hunk, right, isAccepted: true };
}

function rejectLines<T extends Piece>(piece: T): T {
  const rejected = { ...piece, right: piece.before };
  return rejected.kind === 'hunk' ? { ...rejected, isAccepted: false } : rejected;
}

export function mapHunks(
  { pieces }: Pick<ReviewFile, 'pieces'>,
  map: (hunk: Hunk, index: number) => Piece,
): readonly Piece[] | undefined {
  let index = 0;
  return pieces?.map((piece) => (piece.kind === 'hunk' ? map(piece, index++) : piece));
}
