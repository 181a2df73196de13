import type { Side } from './pieces.ts';
import type { ReviewFile } from './reviewFile.ts';

/** Where a hunk is on one side: counted from 0, the end not included; empty where the side has no line of it. */
export interface HunkLines {
  readonly start: number;
  readonly end: number;
}

/** The places of a file's hunks on one side. */
export function hunkLines({ pieces }: ReviewFile, side: Side): readonly HunkLines[] {
  const places: HunkLines[] = [];
  let line = 0;
  for (const piece of pieces ?? []) {
    const end = line + piece[side].length;
    if (piece.kind === 'hunk') {
      places.push({ start: line, end });
    }
    line = end;
  }
  return places;
}

/** The hunk at a line of one side, counted from 0; one without lines there is at the lines beside it. */
export function hunkAt(file: ReviewFile, line: number, side: Side): number | undefined {
  const places = hunkLines(file, side);
  const inside = places.findIndex(({ start, end }) => start <= line && line < end);
  const beside = places.findIndex(
    ({ start, end }) => start === end && (start === line || start === line + 1),
  );
  const found = inside === -1 ? beside : inside;
  return found === -1 ? undefined : found;
}
