import type { PatchError, PatchErrorKind } from '../patchError.ts';
import { isBlank, trim, trimEnd } from '../text/whitespace.ts';
import {
  addHeader,
  chunkMarker,
  deleteHeader,
  endMarker,
  endOfFileMarker,
  environmentHeader,
  moveHeader,
  updateHeader,
} from './markers.ts';
import type { AddSection, Chunk, ChunkLine, DeleteSection, Section, UpdateSection } from './patch.ts';

type Open<T> = { -readonly [K in keyof T]: T[K] };
type OpenChunk = Omit<Open<Chunk>, 'lines' | 'contexts'> & {
  readonly contexts: string[];
  readonly lines: ChunkLine[];
};
type OpenAdd = Omit<AddSection, 'lines'> & { readonly lines: string[] };
type OpenUpdate = Omit<Open<UpdateSection>, 'chunks'> & { readonly chunks: OpenChunk[] };

/**
 * Reads the lines between the envelope's markers, one by one, and knows after each what is complete. What a line
 * means depends on where it stands (reference §3, "Scanner modes"): inside an update only the end is trimmed, so that
 * an indented header is a line of the file; elsewhere both sides are.
 */
export class PatchScanner {
  readonly #sections: Section[] = [];
  readonly #notes = new Set<string>();
  #environmentId: string | undefined;
  #add: OpenAdd | undefined;
  #update: OpenUpdate | undefined;
  /** The chunk that takes lines; undefined before the first and after an end-of-file line. */
  #chunk: OpenChunk | undefined;
  /** Blank lines of an add that only count when another line follows. */
  #pendingBlanks = 0;
  #isBelowUpdateHeader = false;
  #isEnded = false;

  /** Everything read so far; the last section may still be open. */
  get sections(): readonly Section[] {
    return this.#sections;
  }

  get notes(): readonly string[] {
    return [...this.#notes];
  }

  get environmentId(): string | undefined {
    return this.#environmentId;
  }

  /** True after the end marker: the caller decides what may follow. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Takes the next line, without its line feed. `number` counts from 1 at the begin marker. */
  push(line: string, number: number): PatchError | undefined {
    const raw = line.endsWith('\r') ? line.slice(0, -1) : line;
    return this.#update === undefined
      ? this.#pushOutsideUpdate(raw, number)
      : this.#pushInsideUpdate(raw, number, this.#update);
  }

  #pushOutsideUpdate(raw: string, number: number): PatchError | undefined {
    if (this.#add !== undefined && raw.startsWith('+')) {
      this.#addPendingBlanks(this.#add);
      this.#add.lines.push(raw.slice(1));
      return undefined;
    }
    const text = trim(raw);
    if (text === '') {
      this.#pendingBlanks += 1;
      if (this.#add === undefined) {
        this.#notes.add('Blank lines between the sections of a patch were skipped; the format has none.');
      }
      return undefined;
    }
    if (text.startsWith(environmentHeader) && this.#sections.length === 0) {
      return this.#setEnvironment(trim(text.slice(environmentHeader.length)), number);
    }
    return this.#openSection(text, number)
      ? undefined
      : problem(
          'parse.bad_hunk_header',
          number,
          `'${text}' is not a valid hunk header. Valid hunk headers: '*** Add File: {path}', '*** Delete File: {path}', '*** Update File: {path}'`,
        );
  }

  #addPendingBlanks(add: OpenAdd): void {
    for (; this.#pendingBlanks > 0; this.#pendingBlanks -= 1) {
      this.#notes.add(
        'A blank line between the lines of an added file was read as an empty line; write it as "+".',
      );
      add.lines.push('');
    }
  }

  #setEnvironment(id: string, number: number): PatchError | undefined {
    if (id !== '' && this.#environmentId === undefined) {
      this.#environmentId = id;
      return undefined;
    }
    const reason = id === '' ? 'cannot be empty' : 'cannot be specified more than once';
    return {
      kind: 'parse.environment_id',
      message: `Invalid patch: apply_patch environment_id ${reason}`,
      line: number,
    };
  }

  /** Opens the section whose header this is, or ends the patch; false when it is neither. */
  #openSection(text: string, number: number): boolean {
    if (text === endMarker) {
      this.#close();
      this.#isEnded = true;
      return true;
    }
    const opened = sectionOf(text, number);
    if (opened === undefined) {
      return false;
    }
    this.#close();
    this.#sections.push(opened);
    if (opened.kind === 'add') {
      this.#add = opened as OpenAdd;
    } else if (opened.kind === 'update') {
      this.#update = opened as OpenUpdate;
      this.#isBelowUpdateHeader = true;
    }
    return true;
  }

  #close(): void {
    this.#add = undefined;
    this.#update = undefined;
    this.#chunk = undefined;
    this.#pendingBlanks = 0;
  }

  #pushInsideUpdate(raw: string, number: number, update: OpenUpdate): PatchError | undefined {
    const isBelowHeader = this.#isBelowUpdateHeader;
    this.#isBelowUpdateHeader = false;
    const text = trimEnd(raw);
    if (isBelowHeader && text.startsWith(moveHeader)) {
      update.movePath = text.slice(moveHeader.length);
      return undefined;
    }
    const isHeader = text === endMarker || sectionOf(text, number) !== undefined;
    if (isHeader) {
      const unfinished = this.#checkBeforeLeaving(update, text, number);
      if (unfinished === undefined) {
        this.#openSection(text, number);
      }
      return unfinished;
    }
    if (text === endOfFileMarker) {
      return this.#endChunkAtEndOfFile(raw, number, update);
    }
    if (text === chunkMarker || raw.startsWith(`${chunkMarker} `)) {
      this.#openChunk(text.slice(chunkMarker.length + 1), number, update);
      return undefined;
    }
    return this.#addChunkLine(raw, number, update);
  }

  #checkBeforeLeaving(update: OpenUpdate, text: string, number: number): PatchError | undefined {
    const last = update.chunks.at(-1);
    if (last === undefined) {
      return update.movePath === undefined
        ? problem('parse.empty_update', update.line, `Update file hunk for path '${update.path}' is empty`)
        : undefined;
    }
    if (last.lines.length > 0) {
      return undefined;
    }
    return text === endMarker
      ? problem('parse.empty_chunk', number, 'Update hunk does not contain any lines')
      : unexpectedLine(text, number);
  }

  #endChunkAtEndOfFile(raw: string, number: number, update: OpenUpdate): PatchError | undefined {
    if (this.#chunk === undefined) {
      // Before the first chunk it is accepted and forgotten; behind an end-of-file line it is one too many.
      return update.chunks.length === 0 ? undefined : expectedMarker(raw, number);
    }
    if (this.#chunk.lines.length === 0) {
      return problem('parse.empty_chunk', number, 'Update hunk does not contain any lines');
    }
    this.#chunk.isEndOfFile = true;
    this.#chunk = undefined;
    return undefined;
  }

  #openChunk(context: string, number: number, update: OpenUpdate): void {
    const contexts = isBlank(context) ? [] : [context];
    if (this.#chunk?.lines.length === 0) {
      this.#chunk.contexts.push(...contexts);
      return;
    }
    this.#chunk = { line: number, contexts, lines: [], isEndOfFile: false };
    update.chunks.push(this.#chunk);
  }

  #addChunkLine(raw: string, number: number, update: OpenUpdate): PatchError | undefined {
    if (this.#chunk === undefined && update.chunks.length > 0) {
      return isBlank(raw) ? undefined : expectedMarker(raw, number);
    }
    const sign = raw.charAt(0);
    if (sign === '\\' && (this.#chunk?.lines.length ?? 0) > 0) {
      this.#notes.add(
        'The line that begins with "\\" was skipped: the format has no note for a missing newline.',
      );
      return undefined;
    }
    if (sign !== ' ' && sign !== '+' && sign !== '-' && sign !== '') {
      return (this.#chunk?.lines.length ?? 0) > 0 ? expectedMarker(raw, number) : unexpectedLine(raw, number);
    }
    if (this.#chunk === undefined) {
      this.#openChunk('', number, update);
    }
    this.#chunk?.lines.push({ sign: sign === '' ? ' ' : sign, text: raw.slice(1) });
    return undefined;
  }
}

function sectionOf(text: string, line: number): Section | undefined {
  if (text.startsWith(addHeader)) {
    return { kind: 'add', path: text.slice(addHeader.length), line, lines: [] };
  }
  if (text.startsWith(deleteHeader)) {
    return { kind: 'delete', path: text.slice(deleteHeader.length), line } satisfies DeleteSection;
  }
  if (text.startsWith(updateHeader)) {
    return { kind: 'update', path: text.slice(updateHeader.length), line, chunks: [] };
  }
  return undefined;
}

function unexpectedLine(text: string, line: number): PatchError {
  return problem(
    'parse.bad_update_line',
    line,
    `Unexpected line found in update hunk: '${text}'. Every line should start with ' ' (context line), '+' (added line), or '-' (removed line)`,
  );
}

function expectedMarker(text: string, line: number): PatchError {
  return problem(
    'parse.expected_context_marker',
    line,
    `Expected update hunk to start with a @@ context marker, got: '${text}'`,
  );
}

function problem(kind: PatchErrorKind, line: number, text: string): PatchError {
  return { kind, line, message: `Invalid patch hunk on line ${line}: ${text}` };
}
