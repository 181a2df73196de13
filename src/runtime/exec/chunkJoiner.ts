import type { OutputStream } from '../../terminal/childHandle.ts';

/** No chunk becomes larger by joining. */
const maxJoinedBytes = 64 * 1024;

/** Makes one chunk of what is ready to be read of one stream, and keeps the order of all. */
export class ChunkJoiner {
  readonly #emit: (stream: OutputStream, chunk: Uint8Array) => void;
  #stream: OutputStream | undefined;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #timer: NodeJS.Immediate | undefined;

  constructor(emit: (stream: OutputStream, chunk: Uint8Array) => void) {
    this.#emit = emit;
  }

  push(stream: OutputStream, chunk: Uint8Array): void {
    if (this.#stream !== stream || this.#bytes + chunk.byteLength > maxJoinedBytes) {
      this.flush();
    }
    this.#stream = stream;
    this.#parts.push(chunk);
    this.#bytes += chunk.byteLength;
    if (this.#bytes >= maxJoinedBytes) {
      this.flush();
      return;
    }
    // An immediate runs after the loop has read what is ready.
    this.#timer ??= setImmediate(() => this.flush());
  }

  /** Emits what waits; whatever is numbered next comes after it. */
  flush(): void {
    clearImmediate(this.#timer);
    this.#timer = undefined;
    const parts = this.#parts;
    if (this.#stream === undefined || parts.length === 0) {
      return;
    }
    this.#parts = [];
    this.#bytes = 0;
    this.#emit(this.#stream, parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts));
  }
}
