import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import type { PatchError } from '../patchError.ts';
import { isBlank, trim } from '../text/whitespace.ts';
import { beginMarker, endMarker } from './markers.ts';
import type { Patch } from './patch.ts';
import { PatchScanner } from './patchScanner.ts';

/**
 * Parses a whole patch. Every text that the reference accepts means here what it means there (reference §2 and §3);
 * of what it refuses, forms that leave no doubt are accepted with a note (reference §14): prose, code fences, stars
 * behind the markers, other here-document tags, several envelopes. The error is the reference's own.
 */
export function parsePatch(text: string): Result<Patch, PatchError> {
  const lines = linesOf(trim(text));
  const strict = parseEnvelope(lines);
  if (strict.ok || !isEnvelopeError(strict.error)) {
    return strict;
  }
  const wrapped = unwrapHereDocument(lines);
  if (wrapped !== undefined) {
    const inner = parseEnvelope(wrapped.lines);
    return inner.ok ? ok({ ...inner.value, notes: [...wrapped.notes, ...inner.value.notes] }) : inner;
  }
  return parseSurrounded(lines) ?? strict;
}

/** Split at LF; one CR before it goes with it. */
function linesOf(text: string): string[] {
  return text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
}

function isEnvelopeError({ kind }: PatchError): boolean {
  return kind === 'parse.begin_marker' || kind === 'parse.end_marker';
}

const missingBegin: PatchError = {
  kind: 'parse.begin_marker',
  message: `Invalid patch: The first line of the patch must be '${beginMarker}'`,
};
const missingEnd: PatchError = {
  kind: 'parse.end_marker',
  message: `Invalid patch: The last line of the patch must be '${endMarker}'`,
};

function parseEnvelope(lines: readonly string[]): Result<Patch, PatchError> {
  const isEmpty = lines.every(isBlank);
  if (!isEmpty && trim(lines[0] ?? '') !== beginMarker) {
    return fail(missingBegin);
  }
  const last = lines.length - 1;
  if (isEmpty || trim(lines[last] ?? '') !== endMarker) {
    return fail(missingEnd);
  }
  const scanner = new PatchScanner();
  for (let index = 1; index <= last; index += 1) {
    // The very last line may be indented, and may repeat the end marker.
    const line = index === last ? endMarker : (lines[index] as string);
    if (scanner.isEnded) {
      if (index !== last && !isBlank(line)) {
        return fail(missingEnd);
      }
      continue;
    }
    const error = scanner.push(line, index + 1);
    if (error !== undefined) {
      return fail(error);
    }
  }
  return ok(patchOf(scanner));
}

function patchOf(scanner: PatchScanner, notes: readonly string[] = []): Patch {
  return {
    environmentId: scanner.environmentId,
    sections: scanner.sections,
    notes: [...notes, ...scanner.notes],
  };
}

/** The lines inside a here-document that came without its command. The reference knows the tag EOF alone. */
function unwrapHereDocument(
  lines: readonly string[],
): { readonly lines: readonly string[]; readonly notes: readonly string[] } | undefined {
  const opening = /^<<(?:(\w+)|'(\w+)'|"(\w+)")$/.exec(lines[0] ?? '');
  const tag = opening?.slice(1).find((group) => group !== undefined);
  if (tag === undefined || lines.length < 4) {
    return undefined;
  }
  const last = lines.at(-1) ?? '';
  if (tag === 'EOF' ? !last.endsWith(tag) : last !== tag) {
    return undefined;
  }
  const notes =
    tag === 'EOF' ? [] : [`The here-document around the patch was taken off; send the patch alone.`];
  return { lines: lines.slice(1, -1), notes };
}

const looseBegin = /^\*\*\* Begin Patch(?: ?\*+)?$/;
const looseEnd = /^\*\*\* End Patch(?: ?\*+)?$/;

/**
 * One or more envelopes with other text around them. Undefined when it is in doubt what belongs to the patch: a shell
 * command around it, or an end marker that closes nothing.
 */
function parseSurrounded(lines: readonly string[]): Result<Patch, PatchError> | undefined {
  const scanners: PatchScanner[] = [];
  let open: { readonly scanner: PatchScanner; readonly firstIndex: number } | undefined;
  let hasProseSinceEnd = false;
  for (const [index, line] of lines.entries()) {
    const text = trim(index === 0 ? line.replace(/^\ufeff/, '') : line);
    if (open !== undefined) {
      const error = open.scanner.push(
        looseEnd.test(line) || (index === lines.length - 1 && looseEnd.test(text)) ? endMarker : line,
        index - open.firstIndex + 1,
      );
      if (error !== undefined) {
        return fail(error);
      }
      if (open.scanner.isEnded) {
        open = undefined;
        hasProseSinceEnd = false;
      }
    } else if (looseBegin.test(text)) {
      open = { scanner: new PatchScanner(), firstIndex: index };
      scanners.push(open.scanner);
    } else if (looseEnd.test(text)) {
      if (scanners.length === 0 || hasProseSinceEnd) {
        return undefined;
      }
    } else if (text.includes('<<')) {
      return undefined;
    } else {
      hasProseSinceEnd ||= text !== '';
    }
  }
  const [first] = scanners;
  if (first === undefined || open !== undefined) {
    return undefined;
  }
  return ok({
    environmentId: first.environmentId,
    sections: scanners.flatMap((scanner) => scanner.sections),
    notes: [
      `What stands around the patch was ignored; send it from '${beginMarker}' to '${endMarker}' and nothing else.`,
      ...scanners.flatMap((scanner) => scanner.notes),
    ],
  });
}
