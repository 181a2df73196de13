import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import type { ChunkLine, UpdateSection } from '../format/patch.ts';
import { LineMatcher } from '../match/lineMatcher.ts';
import { describeNearest } from '../match/nearestLines.ts';
import type { PlacedChunk, PlacementError } from '../match/placeChunks.ts';
import { placeChunks } from '../match/placeChunks.ts';
import type { PatchError } from '../patchError.ts';
import { decodeText } from '../text/decode.ts';
import { withoutLineEnd } from '../text/lines.ts';
import { TextLines } from '../text/textLines.ts';
import { cannotRead } from './ioErrors.ts';
import type { LineEdit } from './plan.ts';

/** A file's new content, and how it comes about. */
export interface Revision {
  readonly after: Buffer;
  /** Undefined when the byte order mark is among what changes, which is in no line. */
  readonly edits: readonly LineEdit[] | undefined;
  readonly notes: readonly string[];
}

const byteOrderMark = '\ufeff';

/** Applies an update's chunks to a content (reference §4 and §5). `path` is for the error alone. */
export function reviseContent(
  section: UpdateSection,
  bytes: Buffer,
  path: string,
): Result<Revision, PatchError> {
  const decoded = decodeText(bytes);
  if (!decoded.ok) {
    return fail(cannotRead(path, decoded.error));
  }
  const { hasByteOrderMark } = decoded.value;
  // A patch that names the mark means it: then it is part of the first line, as in the reference.
  const marked = hasByteOrderMark && section.chunks.some(mentionsByteOrderMark);
  const lines = new TextLines(marked ? byteOrderMark + decoded.value.text : decoded.value.text);
  const matcher = new LineMatcher(lines);
  const placement = placeChunks(section.chunks, matcher);
  if (!placement.ok) {
    return fail(notFound(placement.error, matcher, path));
  }
  const edits = editsOf(placement.value.chunks, lines);
  if (!edits.ok) {
    const { chunk } = edits.error;
    const wanted = chunk.lines.filter(({ sign }) => sign !== '+').map(({ text }) => text);
    return fail(notFound({ kind: 'match.lines_not_found', chunk, wanted, from: 0 }, matcher, path));
  }
  const text = lines.withEdits(edits.value);
  const after = marked ? Buffer.from(text, 'utf8') : decoded.value.encode(text);
  if (after === undefined) {
    return fail(notEncodable(edits.value, path, section));
  }
  return ok({ after, edits: marked ? undefined : edits.value, notes: placement.value.notes });
}

function mentionsByteOrderMark({ contexts, lines }: UpdateSection['chunks'][number]): boolean {
  return (
    contexts.some((context) => context.includes(byteOrderMark)) ||
    lines.some(({ text }) => text.includes(byteOrderMark))
  );
}

function notFound(
  { kind, chunk, wanted, from }: PlacementError,
  matcher: LineMatcher,
  path: string,
): PatchError {
  const message =
    kind === 'match.context_not_found'
      ? `Failed to find context '${wanted[0] ?? ''}' in ${path}`
      : `Failed to find expected lines in ${path}:\n${wanted.join('\n')}`;
  const nearest = describeNearest(wanted, from, matcher);
  const where = `This is the chunk at line ${chunk.line} of the patch; the file has ${matcher.lineCount} lines.`;
  const advice =
    nearest === ''
      ? 'Read the file again before you write the next patch.'
      : 'Copy context and removed lines from the file exactly.';
  return {
    kind,
    path,
    line: chunk.line,
    message,
    hint: [where, nearest, advice].filter((part) => part !== '').join('\n'),
  };
}

function notEncodable(edits: readonly LineEdit[], path: string, { line }: UpdateSection): PatchError {
  const culprit = edits.flatMap(({ added }) => added).find((added) => /[^\0-\xff]/.test(added)) ?? '';
  return {
    kind: 'encoding',
    path,
    line,
    message: `Failed to write file ${path}`,
    hint: `The file is not UTF-8, and the line "${withoutLineEnd(culprit)}" has characters that cannot be written in an unknown encoding. Use ASCII, or convert the file to UTF-8 first.`,
  };
}

/** The edits of all chunks in order of the file; fails with a chunk that changes lines which another one changes. */
function editsOf(chunks: readonly PlacedChunk[], lines: TextLines): Result<LineEdit[], PlacedChunk> {
  const style = firstLineEnd(lines);
  const edits = chunks.flatMap((placed) => runsOf(placed, lines, style).map((edit) => ({ ...edit, placed })));
  edits.sort((a, b) => a.start - b.start);
  const merged: LineEdit[] = [];
  for (const { placed, ...edit } of edits) {
    const last = merged.at(-1);
    const end = last === undefined ? 0 : last.start + last.removed;
    if (edit.start < end) {
      return fail(placed);
    }
    if (last !== undefined && edit.start === end) {
      merged[merged.length - 1] = {
        start: last.start,
        removed: last.removed + edit.removed,
        added: [...last.added, ...edit.added],
      };
    } else {
      merged.push(edit);
    }
  }
  return ok(withFinalLineEnd(merged, lines, style));
}

/** A chunk as edits: its runs of removed and added lines between lines of context. */
function runsOf({ lines: chunkLines, position }: PlacedChunk, lines: TextLines, style: string): LineEdit[] {
  const edits: LineEdit[] = [];
  let line = position;
  let run: ChunkLine[] = [];
  const close = (): void => {
    const removed = run.filter(({ sign }) => sign === '-').length;
    const added = run.filter(({ sign }) => sign === '+');
    if (run.length > 0) {
      edits.push({
        start: line - removed,
        removed,
        added: added.map(
          ({ text }, index) => text + lineEndFor(index, line - removed, removed, lines, style),
        ),
      });
    }
    run = [];
  };
  for (const chunkLine of chunkLines) {
    if (chunkLine.sign === ' ') {
      close();
      line += 1;
    } else {
      run.push(chunkLine);
      line += chunkLine.sign === '-' ? 1 : 0;
    }
  }
  close();
  return edits;
}

/** The line end of an added line: of the line that it replaces, or of its neighbours; the file's first otherwise. */
function lineEndFor(index: number, start: number, removed: number, lines: TextLines, style: string): string {
  const neighbours = removed > 0 ? [start + Math.min(index, removed - 1)] : [start - 1, start];
  const ends = neighbours.map((line) => lines.lineEndOf(line));
  return ends.find((end) => end !== '') ?? style;
}

function firstLineEnd(lines: TextLines): string {
  return lines.lineEndOf(0) || '\n';
}

/** A result that has any line ends in a line end (reference §5): the old last line gets one when it has none. */
function withFinalLineEnd(edits: LineEdit[], lines: TextLines, style: string): LineEdit[] {
  const last = lines.length - 1;
  if (last < 0 || lines.lineEndOf(last) !== '') {
    return edits;
  }
  const tail = edits.at(-1);
  if (tail !== undefined && tail.start <= last && tail.start + tail.removed > last) {
    return edits;
  }
  const completed = lines.contentOf(last) + (lines.lineEndOf(last - 1) || style);
  if (tail !== undefined && tail.start + tail.removed === last) {
    edits[edits.length - 1] = {
      start: tail.start,
      removed: tail.removed + 1,
      added: [...tail.added, completed],
    };
  } else if (tail?.start === lines.length) {
    edits[edits.length - 1] = { start: last, removed: 1, added: [completed, ...tail.added] };
  } else {
    edits.push({ start: last, removed: 1, added: [completed] });
  }
  return edits;
}
