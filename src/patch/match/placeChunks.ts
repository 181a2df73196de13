import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import type { Chunk, ChunkLine } from '../format/patch.ts';
import { isBlank } from '../text/whitespace.ts';
import { overlooked } from './comparisons.ts';
import type { LineMatcher, Match } from './lineMatcher.ts';
import { placeContexts } from './placeContexts.ts';

/** A chunk and the place in the file where it belongs. */
export interface PlacedChunk {
  /** What is done there: the chunk's lines, less a blank one at the end that the file does not have. */
  readonly lines: readonly ChunkLine[];
  /** Index of the first old line, or, without any, where the new lines go. */
  readonly position: number;
  /** How many lines of the file it is about. */
  readonly oldLength: number;
  readonly chunk: Chunk;
}

export interface Placement {
  readonly chunks: readonly PlacedChunk[];
  readonly notes: readonly string[];
}

/** A chunk that has no place. */
export interface PlacementError {
  readonly kind: 'match.context_not_found' | 'match.lines_not_found';
  readonly chunk: Chunk;
  /** The lines that were looked for. */
  readonly wanted: readonly string[];
  /** The line from which they were looked for, from 0. */
  readonly from: number;
}

/**
 * Finds the place of every chunk with one cursor that moves forward (reference §4). Where the reference finds nothing,
 * a chunk is placed all the same if that leaves no doubt (reference §14), and a note says how.
 */
export function placeChunks(
  chunks: readonly Chunk[],
  matcher: LineMatcher,
): Result<Placement, PlacementError> {
  const placed: PlacedChunk[] = [];
  const notes: string[] = [];
  let cursor: Cursor = { line: 0, sharedLines: 0 };
  for (const chunk of chunks) {
    const context = placeContexts(chunk.contexts, cursor.line, matcher);
    if ('missing' in context) {
      return fail({
        kind: 'match.context_not_found',
        chunk,
        wanted: [context.missing],
        from: cursor.line,
      });
    }
    const old = oldBlock(chunk.lines);
    if (old.length === 0) {
      const isAfterContext = context.line !== undefined && !chunk.isEndOfFile;
      placed.push({
        chunk,
        lines: chunk.lines,
        position: isAfterContext ? context.from : matcher.lineCount,
        oldLength: 0,
      });
      cursor = { line: context.from, sharedLines: 0 };
      notes.push(...context.notes);
      continue;
    }
    const found = placeBlock({
      chunk,
      matcher,
      placed,
      from: context.from,
      contextLine: context.line,
      cursor,
    });
    if (found === undefined) {
      return fail({ kind: 'match.lines_not_found', chunk, wanted: old, from: context.from });
    }
    const { lines, match, isOutOfOrder } = found;
    notes.push(...context.notes, ...found.notes, ...ambiguity(found, chunk, matcher));
    const oldLength = oldBlock(lines).length;
    placed.push({ chunk, lines, position: match.position, oldLength });
    if (!isOutOfOrder) {
      cursor = {
        line: match.position + oldLength,
        sharedLines: trailingContext(lines),
      };
    }
  }
  return ok({ chunks: placed, notes });
}

interface Cursor {
  readonly line: number;
  /** How many lines before the cursor are context of the last chunk, so that the next may begin with them. */
  readonly sharedLines: number;
}

interface Search {
  readonly chunk: Chunk;
  readonly matcher: LineMatcher;
  readonly placed: readonly PlacedChunk[];
  readonly from: number;
  readonly contextLine: number | undefined;
  readonly cursor: Cursor;
}

interface FoundBlock {
  readonly lines: readonly ChunkLine[];
  readonly match: Match;
  readonly notes: readonly string[];
  /** Placed by looking at the whole file: the cursor stays, and there is no other place. */
  readonly isOutOfOrder?: boolean;
}

function placeBlock(search: Search): FoundBlock | undefined {
  const { lines } = search.chunk;
  const last = oldBlock(lines).at(-1) ?? '';
  const forms = isBlank(last) ? [lines, withoutLastOldLine(lines)] : [lines];
  // The reference drops an empty line only, not one of blanks.
  const referenceForms = last === '' ? forms : [lines];
  return (
    firstOf(referenceForms, (form) => placeAsReference(form, search)) ??
    firstOf(forms, (form) => placeAsReference(form, search)) ??
    firstOf(forms, (form) => placeBeforeEnd(form, search)) ??
    firstOf(forms, (form) => placeNearby(form, search)) ??
    firstOf(forms, (form) => placeAnywhere(form, search))
  );
}

function firstOf<T, R>(items: readonly T[], action: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const result = action(item);
    if (result !== undefined) {
      return result;
    }
  }
  return undefined;
}

function placeAsReference(
  lines: readonly ChunkLine[],
  { chunk, matcher, from }: Search,
): FoundBlock | undefined {
  const block = oldBlock(lines);
  if (block.length === 0) {
    return { lines, match: { position: from, comparison: 'exact' }, notes: [] };
  }
  const match = chunk.isEndOfFile
    ? matcher.findAt(block, Math.max(matcher.lineCount - block.length, from))
    : matcher.find(block, from);
  return match === undefined ? undefined : { lines, match, notes: [] };
}

/** An end-of-file chunk whose lines are not the last: before blank lines at the end, or wherever they are. */
function placeBeforeEnd(
  lines: readonly ChunkLine[],
  { chunk, matcher, from }: Search,
): FoundBlock | undefined {
  if (!chunk.isEndOfFile) {
    return undefined;
  }
  const block = oldBlock(lines);
  let end = matcher.lineCount;
  while (end > 0 && isBlank(matcher.lineAt(end - 1))) {
    end -= 1;
  }
  const match = matcher.findAt(block, Math.max(end - block.length, from)) ?? matcher.find(block, from);
  if (match === undefined) {
    return undefined;
  }
  const note = `${nameOf(chunk)} says "*** End of File", but its lines are not the last of the file; they were found at line ${match.position + 1}.`;
  return { lines, match, notes: [note] };
}

/** A body that repeats its context line, or begins with the last context lines of the chunk before. */
function placeNearby(lines: readonly ChunkLine[], search: Search): FoundBlock | undefined {
  const { matcher, contextLine, cursor } = search;
  const block = oldBlock(lines);
  if (contextLine !== undefined) {
    const match = matcher.findAt(block, contextLine);
    return match === undefined ? undefined : { lines, match, notes: [] };
  }
  for (let position = cursor.line - 1; position >= cursor.line - cursor.sharedLines; position -= 1) {
    const match = matcher.findAt(block, position);
    if (match !== undefined) {
      return { lines, match, notes: [] };
    }
  }
  return undefined;
}

/**
 * Above an earlier chunk, if there is no other such place and nothing is changed twice. A context and an end-of-file
 * chunk before it say that it belongs below.
 */
function placeAnywhere(lines: readonly ChunkLine[], search: Search): FoundBlock | undefined {
  const { chunk, matcher, placed } = search;
  if (chunk.contexts.length > 0 || placed.some((other) => other.chunk.isEndOfFile)) {
    return undefined;
  }
  const block = oldBlock(lines);
  const match = matcher.findUnique(block);
  if (match === undefined || placed.some((other) => touches(other, match.position, block.length))) {
    return undefined;
  }
  const note = `${nameOf(chunk)} was found above an earlier chunk, at line ${match.position + 1}; write chunks in the order of the file.`;
  return { lines, match, notes: [note], isOutOfOrder: true };
}

function touches(other: PlacedChunk, position: number, length: number): boolean {
  return other.position < position + length && position < other.position + Math.max(other.oldLength, 1);
}

/** Chunks share a few lines of context when they share any. */
const maxSharedLines = 50;

/** How many further places are named. */
const maxPlacesNamed = 3;

function ambiguity({ lines, match, isOutOfOrder }: FoundBlock, chunk: Chunk, matcher: LineMatcher): string[] {
  if (chunk.contexts.length > 0 || isOutOfOrder === true || chunk.isEndOfFile) {
    return [];
  }
  const block = oldBlock(lines);
  const places = block.every(isBlank) ? [] : matcher.furtherPlaces(block, match, maxPlacesNamed + 1);
  if (places.length === 0) {
    return [];
  }
  const named = places.slice(0, maxPlacesNamed).map((place) => place + 1);
  const more = places.length > maxPlacesNamed ? ' and more' : '';
  const how = match.comparison === 'exact' ? '' : ` (comparing without ${overlooked[match.comparison]})`;
  return [
    `${nameOf(chunk)} was applied at line ${match.position + 1}, but its lines also stand at line ${named.join(', ')}${more}${how}. If another place was meant, name it with "@@" and a line above it.`,
  ];
}

function nameOf(chunk: Chunk): string {
  return `The chunk at line ${chunk.line} of the patch`;
}

/** Context and removed lines, in order. */
export function oldBlock(lines: readonly ChunkLine[]): string[] {
  return lines.filter(({ sign }) => sign !== '+').map(({ text }) => text);
}

function trailingContext(lines: readonly ChunkLine[]): number {
  const last = lines.findLastIndex(({ sign }) => sign !== ' ');
  return Math.min(lines.length - 1 - last, maxSharedLines);
}

/**
 * The chunk without its last old line, which is blank and not in the file (reference §4.4). When it was to be replaced
 * by a blank one, that goes too; a context line goes on both sides.
 */
function withoutLastOldLine(lines: readonly ChunkLine[]): readonly ChunkLine[] {
  const index = lines.findLastIndex(({ sign }) => sign !== '+');
  const last = lines.length - 1;
  const isReplacedByBlank =
    lines[index]?.sign === '-' && lines[last]?.sign === '+' && lines[last].text === '';
  return lines.filter((_, at) => at !== index && !(isReplacedByBlank && at === last));
}
