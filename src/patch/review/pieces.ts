import type { LineEdit } from '../plan/plan.ts';
import { editsBetween } from '../text/lines.ts';

/**
 * A text under review, cut where the proposal changes it: hunks, and the gaps between them. `right` is what will be
 * applied; the person may have edited it anywhere.
 */
export type Piece = Gap | Hunk;

interface PieceLines {
  readonly before: readonly string[];
  readonly proposed: readonly string[];
  readonly right: readonly string[];
}

export interface Gap extends PieceLines {
  readonly kind: 'gap';
}

export interface Hunk extends PieceLines {
  readonly kind: 'hunk';
  readonly isAccepted: boolean;
  readonly comment?: string | undefined;
}

/** `changed`: edited by the person, and not yet accepted. A hunk is rejected when it is as it was before. */
export type HunkStatus = 'pending' | 'accepted' | 'rejected' | 'changed';

export type Side = keyof PieceLines;

export function statusOf(hunk: Hunk): HunkStatus {
  if (sameLines(hunk.right, hunk.before)) {
    return 'rejected';
  }
  if (hunk.isAccepted) {
    return 'accepted';
  }
  return sameLines(hunk.right, hunk.proposed) ? 'pending' : 'changed';
}

export function linesOf(pieces: readonly Piece[], side: Side): string[] {
  return pieces.flatMap((piece) => piece[side]);
}

/** A text that is decided as a whole. */
export function onePiece(proposed: readonly string[]): readonly Piece[] {
  return [{ kind: 'gap', before: proposed, proposed, right: proposed }];
}

/** Cuts a text at its edits, of which adjacent ones are one hunk; the right side is the proposal. */
export function cutPieces(before: readonly string[], edits: readonly LineEdit[]): readonly Piece[] {
  const pieces: Piece[] = [];
  let next = 0;
  const addGap = (end: number): void => {
    const lines = before.slice(next, end);
    pieces.push({ kind: 'gap', before: lines, proposed: lines, right: lines });
  };
  for (const { start, removed, added } of joinAdjacent(edits)) {
    addGap(start);
    next = start + removed;
    const old = before.slice(start, next);
    pieces.push({ kind: 'hunk', before: old, proposed: added, right: added, isAccepted: false });
  }
  addGap(before.length);
  return pieces;
}

function joinAdjacent(edits: readonly LineEdit[]): LineEdit[] {
  const joined: LineEdit[] = [];
  for (const edit of edits) {
    const last = joined.at(-1);
    if (last !== undefined && last.start + last.removed === edit.start) {
      const { start, removed, added } = last;
      joined[joined.length - 1] = {
        start,
        removed: removed + edit.removed,
        added: [...added, ...edit.added],
      };
    } else {
      joined.push(edit);
    }
  }
  return joined;
}

/**
 * The pieces with new lines on the right side. Repeated lines can be told apart in more than one way: the one that
 * leaves most pieces as they were or as they were proposed wins.
 */
export function withRight(pieces: readonly Piece[], lines: readonly string[]): readonly Piece[] {
  const first = distribute(pieces, lines);
  if (countEdited(first) <= countEdited(pieces)) {
    return first;
  }
  const others = (['proposed', 'before'] as const).map((side) =>
    distribute(
      pieces.map((piece) => ({ ...piece, right: piece[side] })),
      lines,
    ),
  );
  return others.reduce((best, guess) => (countEdited(guess) < countEdited(best) ? guess : best), first);
}

function countEdited(pieces: readonly Piece[]): number {
  return pieces.filter(
    ({ right, before, proposed }) => !sameLines(right, before) && !sameLines(right, proposed),
  ).length;
}

/** Gives each difference between the right side and the new lines to the piece in which it happened. */
function distribute(pieces: readonly Piece[], lines: readonly string[]): readonly Piece[] {
  const current = linesOf(pieces, 'right');
  const owners = pieces.flatMap(({ right }, index) => right.map(() => index));
  const rights: string[][] = pieces.map(() => []);
  let line = 0;
  const keepUntil = (end: number): void => {
    for (; line < end; line += 1) {
      rights[owners[line] as number]?.push(current[line] as string);
    }
  };
  for (const edit of editsBetween(current, lines)) {
    keepUntil(edit.start);
    const right = rights[ownerOf(edit, pieces, owners)];
    for (const added of edit.added) {
      right?.push(added);
    }
    line = edit.start + edit.removed;
  }
  keepUntil(current.length);
  return pieces.map((piece, index) => {
    const right = rights[index] as string[];
    // The same array as long as it is the same text: comparing is then free.
    return sameLines(piece.right, right) ? piece : { ...piece, right };
  });
}

/** A hunk that lost lines or had none comes first; text typed beside an intact hunk belongs to the gap. */
function ownerOf({ start, removed }: LineEdit, pieces: readonly Piece[], owners: readonly number[]): number {
  const first = owners[start - 1] ?? 0;
  const last = owners[start + removed] ?? pieces.length - 1;
  const losers = new Set(owners.slice(start, start + removed));
  const isGap = (index: number): boolean => pieces[index]?.kind === 'gap';
  for (let index = first; index <= last; index += 1) {
    if (!isGap(index) && (losers.has(index) || pieces[index]?.right.length === 0)) {
      return index;
    }
  }
  if (removed > 0) {
    return owners[start] as number;
  }
  return isGap(first) || !isGap(last) ? first : last;
}

export function sameLines(a: readonly string[], b: readonly string[]): boolean {
  return a === b || (a.length === b.length && a.every((line, index) => line === b[index]));
}
