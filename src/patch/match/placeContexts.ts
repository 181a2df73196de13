import { trim } from '../text/whitespace.ts';
import type { LineMatcher } from './lineMatcher.ts';

/** Where the search for a chunk's lines begins. */
export interface ContextPlace {
  /** The line after the innermost context. */
  readonly from: number;
  /** The innermost context's own line; undefined when no context placed anything. */
  readonly line?: number | undefined;
  readonly notes: readonly string[];
}

/** The header of a unified diff's hunk: it names lines of a file that the model has not counted. */
const unifiedRange = /^-\d+(?:,\d+)? \+\d+(?:,\d+)?(?: @@(?<heading>.*))?$/;

/**
 * Finds the contexts of a chunk, each after the one before (reference §4.1; several are our own, §14). Where no line
 * equals a context, a line that begins with it or contains it does, if there is just one. The error is the context
 * that was not found.
 */
export function placeContexts(
  contexts: readonly string[],
  from: number,
  matcher: LineMatcher,
): ContextPlace | { readonly missing: string } {
  let place: ContextPlace = { from, notes: [] };
  for (const context of contexts) {
    const found = placeContext(context, place, matcher);
    if (found === undefined) {
      return { missing: context };
    }
    place = found;
  }
  return place;
}

function placeContext(context: string, place: ContextPlace, matcher: LineMatcher): ContextPlace | undefined {
  const whole = matcher.find([context], place.from);
  if (whole !== undefined) {
    return { from: whole.position + 1, line: whole.position, notes: place.notes };
  }
  const range = unifiedRange.exec(context);
  if (range !== null) {
    const heading = trim(range.groups?.['heading'] ?? '');
    const note = `"@@ ${context}" was read as a unified diff's range and did not place the chunk; write "@@" and a whole line of the file.`;
    const under = heading === '' ? undefined : placeContext(heading, place, matcher);
    return { ...(under ?? place), notes: [...(under ?? place).notes, note] };
  }
  const position = matcher.findOnlyLineWith(trim(context), place.from);
  if (position === undefined) {
    return undefined;
  }
  const note = `"@@ ${context}" was taken to mean line ${position + 1}: ${trim(matcher.lineAt(position))}`;
  return { from: position + 1, line: position, notes: [...place.notes, note] };
}
