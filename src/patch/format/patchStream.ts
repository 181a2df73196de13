import type { Result } from '../../base/result.ts';
import type { PatchError } from '../patchError.ts';
import { trim } from '../text/whitespace.ts';
import { beginMarker } from './markers.ts';
import { parsePatch } from './parsePatch.ts';
import type { Chunk, Patch, Section } from './patch.ts';
import { PatchScanner } from './patchScanner.ts';

/** A piece of a patch that no later text changes. */
export type StreamedHunk =
  | { readonly kind: 'section'; readonly section: Section }
  | { readonly kind: 'chunk'; readonly section: Section; readonly chunk: Chunk };

/**
 * Reads a patch that arrives in pieces, for previews: the same scanner as {@link parsePatch}, with names as written
 * and complete lines only. A text that the scanner cannot follow gives no further hunks; {@link finish} alone decides.
 */
export class PatchStream {
  readonly #scanner = new PatchScanner();
  readonly #pieces: string[] = [];
  #rest = '';
  #lineNumber = 0;
  #isLost = false;
  #reported = { sections: 0, chunks: 0 };

  /** Takes the next piece; returns what has become complete with it. */
  feed(piece: string): readonly StreamedHunk[] {
    this.#pieces.push(piece);
    const lines = (this.#rest + piece).split('\n');
    this.#rest = lines.pop() ?? '';
    const hunks: StreamedHunk[] = [];
    for (const line of lines) {
      this.#push(line.endsWith('\r') ? line.slice(0, -1) : line);
      this.#collect(hunks);
    }
    return hunks;
  }

  /** The end of the text: the whole of it is parsed. */
  finish(): Result<Patch, PatchError> {
    return parsePatch(this.#pieces.join(''));
  }

  #push(line: string): void {
    if (this.#isLost || this.#scanner.isEnded || (this.#lineNumber === 0 && trim(line) === '')) {
      return;
    }
    this.#lineNumber += 1;
    this.#isLost =
      this.#lineNumber === 1
        ? trim(line) !== beginMarker
        : this.#scanner.push(line, this.#lineNumber) !== undefined;
  }

  /** A section is complete when another begins or the patch ends, a chunk also when another chunk begins. */
  #collect(hunks: StreamedHunk[]): void {
    const { sections, isEnded } = this.#scanner;
    const isLast = (index: number): boolean => index === sections.length - 1 && !isEnded;
    for (let index = this.#reported.sections; index < sections.length; index += 1) {
      const section = sections[index] as Section;
      if (section.kind === 'update') {
        const complete =
          section.chunks.length - (isLast(index) && section.chunks.at(-1)?.isEndOfFile !== true ? 1 : 0);
        for (; this.#reported.chunks < complete; this.#reported.chunks += 1) {
          hunks.push({ kind: 'chunk', section, chunk: section.chunks[this.#reported.chunks] as Chunk });
        }
      }
      if (isLast(index)) {
        return;
      }
      hunks.push({ kind: 'section', section });
      this.#reported = { sections: index + 1, chunks: 0 };
    }
  }
}
