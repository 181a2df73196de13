import { Emitter } from '../../base/event.ts';
import type { Event } from '../../base/event.ts';
import type { ExecEvent, ExitStatus, OutputStream, ReadRequest, ReadResult } from './execBackend.ts';

/** Retained per process, as in the reference: the newest MiB in at most 50,000 chunks. */
const maxRetainedBytes = 1024 * 1024;
const maxRetainedChunks = 50_000;

/** A timer that is longer fires at once. */
const longestTimer = 2_147_483_647;

type RetainedChunk = ReadResult['chunks'][number];

/** The numbered event stream of one process: pushes every event, retains the newest output for readers. */
export class EventWindow {
  readonly #events = new Emitter<ExecEvent>();
  readonly #waiters = new Set<() => void>();
  readonly onEvent: Event<ExecEvent> = this.#events.event;
  /** Evicted ones leave a hole, which holds no memory. */
  #chunks: (RetainedChunk | undefined)[] = [];
  /** Index of the oldest retained chunk: evicting moves it, so that eviction copies nothing. */
  #first = 0;
  #retainedBytes = 0;
  #evictedToSeq = 0;
  #evictedBytes = 0;
  #lastSeq = 0;
  #exit: ExitStatus | undefined;
  #isClosed = false;

  get exit(): ExitStatus | undefined {
    return this.#exit;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Bytes that fell out of the window since the process started. */
  get evictedBytes(): number {
    return this.#evictedBytes;
  }

  output(stream: OutputStream, read: Uint8Array): void {
    const chunk = withoutSlack(read);
    const seq = ++this.#lastSeq;
    this.#chunks.push({ seq, stream, chunk });
    this.#retainedBytes += chunk.byteLength;
    this.#evict();
    this.#publish({ kind: 'output', seq, stream, chunk });
  }

  exited(status: ExitStatus): void {
    this.#exit = status;
    this.#publish({ kind: 'exited', seq: ++this.#lastSeq, ...status });
  }

  /** The events up to this number will never come; readers learn it as of output that is no longer kept. */
  lost(toSeq: number): void {
    const fromSeq = this.#lastSeq + 1;
    this.#chunks = [];
    this.#first = 0;
    this.#retainedBytes = 0;
    this.#lastSeq = toSeq;
    this.#evictedToSeq = toSeq;
    this.#publish({ kind: 'gap', seq: toSeq, fromSeq });
  }

  closed(): void {
    this.#isClosed = true;
    this.#publish({ kind: 'closed', seq: ++this.#lastSeq });
  }

  get retainedBytes(): number {
    return this.#retainedBytes;
  }

  /** Drops all that is retained; readers are told of the gap. */
  forget(): void {
    this.#evictedToSeq = this.#chunks.at(-1)?.seq ?? this.#evictedToSeq;
    this.#evictedBytes += this.#retainedBytes;
    this.#retainedBytes = 0;
    this.#chunks = [];
    this.#first = 0;
  }

  /** The retained output chunks, oldest first. */
  retained(): readonly RetainedChunk[] {
    return this.#chunks.slice(this.#first) as RetainedChunk[];
  }

  /** Returns retained events after a number; waits for news when there are none and the caller allows it. */
  async read(request: ReadRequest): Promise<ReadResult> {
    if ((request.waitMs ?? 0) > 0 && !this.#hasNewsAfter(request.afterSeq)) {
      await this.#nextEvent(request);
    }
    return this.readNow(request);
  }

  /** The same without waiting. */
  readNow({ afterSeq, maxBytes = Infinity }: ReadRequest): ReadResult {
    const chunks: RetainedChunk[] = [];
    let bytes = 0;
    let isCut = false;
    for (let index = this.#firstIndexAfter(afterSeq); index < this.#chunks.length; index++) {
      const chunk = this.#chunks[index] as RetainedChunk;
      bytes += chunk.chunk.byteLength;
      if (bytes > maxBytes && chunks.length > 0) {
        isCut = true;
        break;
      }
      chunks.push(chunk);
    }
    const last = chunks.at(-1);
    return {
      chunks,
      nextSeq: isCut && last !== undefined ? last.seq + 1 : this.#lastSeq + 1,
      ...(this.#evictedToSeq > afterSeq && { gap: { fromSeq: afterSeq + 1, toSeq: this.#evictedToSeq } }),
      ...(this.#exit !== undefined && { exit: this.#exit }),
      closed: this.#isClosed,
    };
  }

  #publish(event: ExecEvent): void {
    this.#events.fire(event);
    for (const wake of this.#waiters) {
      wake();
    }
  }

  #evict(): void {
    while (this.#retainedBytes > maxRetainedBytes || this.#chunks.length - this.#first > maxRetainedChunks) {
      const oldest = this.#chunks[this.#first] as RetainedChunk;
      this.#chunks[this.#first++] = undefined;
      this.#retainedBytes -= oldest.chunk.byteLength;
      this.#evictedBytes += oldest.chunk.byteLength;
      this.#evictedToSeq = oldest.seq;
    }
    if (this.#first > 1024 && this.#first * 2 > this.#chunks.length) {
      this.#chunks = this.#chunks.slice(this.#first);
      this.#first = 0;
    }
  }

  #hasNewsAfter(seq: number): boolean {
    return this.#isClosed || this.#lastSeq > seq;
  }

  async #nextEvent(request: ReadRequest): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        if (this.#hasNewsAfter(request.afterSeq)) {
          done();
        }
      };
      const done = (): void => {
        clearTimeout(timer);
        request.signal?.removeEventListener('abort', done);
        this.#waiters.delete(wake);
        resolve();
      };
      const timer = setTimeout(done, Math.min(request.waitMs ?? 0, longestTimer));
      this.#waiters.add(wake);
      request.signal?.addEventListener('abort', done);
    });
  }

  #firstIndexAfter(seq: number): number {
    let low = this.#first;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#chunks[middle] as RetainedChunk).seq > seq) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
}

/** A pipe reads a few bytes into a buffer of 64 KiB: whoever keeps them must not keep all of it. */
function withoutSlack(chunk: Uint8Array): Uint8Array {
  return chunk.byteLength * 2 < chunk.buffer.byteLength ? new Uint8Array(chunk) : chunk;
}
