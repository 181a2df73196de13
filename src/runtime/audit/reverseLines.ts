import type { FileHandle } from 'node:fs/promises';

const newline = 0x0a;
const chunkBytes = 64 * 1024;
/** No entry comes near that: what is longer is damaged, and not kept in memory. */
const maxLineBytes = 1024 * 1024;

/** A line without its end; `text` is undefined when it is too long to be one. */
export interface Line {
  readonly text: string | undefined;
  readonly bytes: number;
}

/** The lines of a file as it is now, last first, in bounded memory. A last line without an end counts, too. */
export async function* reverseLines(file: FileHandle): AsyncGenerator<Line> {
  const { size } = await file.stat();
  const buffer = Buffer.alloc(Math.min(chunkBytes, size));
  const rest = new LineTail();
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - buffer.length);
    const { bytesRead } = await file.read(buffer, 0, end - start, start);
    if (bytesRead < end - start) {
      throw new Error('the file became shorter while it was read');
    }
    let lineEnd = bytesRead;
    for (let at = buffer.lastIndexOf(newline, lineEnd - 1); at >= 0;) {
      rest.prepend(buffer.subarray(at + 1, lineEnd));
      yield rest.take();
      lineEnd = at;
      at = lineEnd === 0 ? -1 : buffer.lastIndexOf(newline, lineEnd - 1);
    }
    rest.prepend(buffer.subarray(0, lineEnd));
    end = start;
  }
  yield rest.take();
}

/** The end of a line whose start was not read yet. */
class LineTail {
  #parts: Buffer[] = [];
  #bytes = 0;

  prepend(part: Buffer): void {
    this.#bytes += part.length;
    this.#parts = this.#bytes > maxLineBytes ? [] : [Buffer.from(part), ...this.#parts];
  }

  take(): Line {
    const bytes = this.#bytes;
    const text = bytes > maxLineBytes ? undefined : Buffer.concat(this.#parts).toString();
    this.#parts = [];
    this.#bytes = 0;
    return { text, bytes };
  }
}
