import type { CordonExit } from '../protocol/cordon.ts';
import type { OutputStream } from '../../exec/execBackend.ts';

/** An event of a process as it came over the wire. */
export type WireEvent =
  | {
      readonly kind: 'output';
      readonly seq: number;
      readonly stream: OutputStream;
      readonly chunk: Uint8Array;
    }
  | {
      readonly kind: 'exited';
      readonly seq: number;
      readonly exitCode: number;
      readonly sandboxDenied: boolean;
      readonly cordon?: CordonExit | undefined;
    }
  | { readonly kind: 'closed'; readonly seq: number; readonly cordon?: CordonExit | undefined };

/** An event in its place; `gap` stands for the numbers `fromSeq` to `seq`, which nobody has any more. */
export type OrderedEvent =
  WireEvent | { readonly kind: 'gap'; readonly seq: number; readonly fromSeq: number };

/** An answer to `process/read` from after {@link EventOrder.lastSeq}, its chunks decoded. */
export interface FetchedEvents {
  readonly chunks: readonly {
    readonly seq: number;
    readonly stream: OutputStream;
    readonly chunk: Uint8Array;
  }[];
  readonly nextSeq: number;
  readonly exit?: {
    readonly exitCode: number;
    readonly sandboxDenied: boolean;
    readonly cordon?: CordonExit | undefined;
  };
  readonly closed?: { readonly cordon?: CordonExit | undefined };
}

/** The reference was seen to swap events over up to 84 places; a full room means that the missing one is gone. */
const mostEvents = 8_192;
const mostBytes = 16 * 1024 * 1024;
/** A server that keeps so much may have dropped what is older: it keeps 1 MiB or 50,000 chunks (§7.4). */
const fullWindowBytes = 512 * 1024;
const fullWindowChunks = 25_000;

/**
 * Puts the events of one process in the order of their numbers, whatever order they come in and however often: pushed
 * ones and fetched ones. What is missing for good becomes an explicit gap.
 */
export class EventOrder {
  readonly #deliver: (event: OrderedEvent) => void;
  readonly #early = new Map<number, OrderedEvent>();
  #earlyBytes = 0;
  #lastSeq = 0;
  #hasExit = false;
  #isClosed = false;

  constructor(deliver: (event: OrderedEvent) => void) {
    this.#deliver = deliver;
  }

  /** The number up to which everything was delivered. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Whether something is here whose predecessor is missing. */
  get isWaiting(): boolean {
    return this.#early.size > 0;
  }

  /** Whether the exit is known, delivered or not. */
  get hasExit(): boolean {
    return this.#hasExit;
  }

  push(event: WireEvent): void {
    this.#add(event);
    this.#deliverReady();
    if (this.#early.size > mostEvents || this.#earlyBytes > mostBytes) {
      this.skip();
    }
  }

  /**
   * Takes what was fetched. False when numbers are missing that the server should have: they are on their way, unless
   * it is the last try, which gives them up.
   */
  merge(fetched: FetchedEvents, isLastTry = false): boolean {
    for (const chunk of fetched.chunks) {
      this.#add({ kind: 'output', ...chunk });
    }
    const end = fetched.nextSeq - 1;
    if (fetched.closed !== undefined && !this.#isClosed) {
      this.#add({ kind: 'closed', seq: end, ...fetched.closed });
    }
    const givesUp = isLastTry || isFull(fetched);
    if (fetched.exit !== undefined && !this.#hasExit && (givesUp || this.#countMissing(end) === 1)) {
      // It has no chunk, so its number is one of the missing ones; older than it can be what is no longer kept.
      this.#add({ kind: 'exited', seq: this.#lastMissing(end) ?? end + 1, ...fetched.exit });
    }
    this.#deliverReady();
    const isMissing = this.#lastMissing(end) !== undefined;
    if (isMissing && givesUp) {
      this.#skipTo(end);
    }
    return !isMissing || this.#lastSeq >= end;
  }

  /** Gives up everything that is missing before what is here. */
  skip(): void {
    this.#skipTo(Math.max(this.#lastSeq, ...this.#early.keys()));
  }

  #add(event: OrderedEvent): void {
    if (event.seq <= this.#lastSeq || this.#early.has(event.seq)) {
      return;
    }
    this.#hasExit ||= event.kind === 'exited';
    this.#isClosed ||= event.kind === 'closed';
    if (event.seq === this.#lastSeq + 1) {
      this.#lastSeq++;
      this.#deliver(event);
      return;
    }
    this.#early.set(event.seq, event);
    this.#earlyBytes += event.kind === 'output' ? event.chunk.byteLength : 0;
  }

  #deliverReady(): void {
    for (;;) {
      const event = this.#early.size === 0 ? undefined : this.#early.get(this.#lastSeq + 1);
      if (event === undefined) {
        return;
      }
      this.#early.delete(event.seq);
      this.#earlyBytes -= event.kind === 'output' ? event.chunk.byteLength : 0;
      this.#lastSeq++;
      this.#deliver(event);
    }
  }

  #countMissing(end: number): number {
    const here = [...this.#early.keys()].filter((seq) => seq <= end).length;
    return Math.max(0, end - this.#lastSeq) - here;
  }

  /** The highest number up to `end` that is neither delivered nor here. */
  #lastMissing(end: number): number | undefined {
    for (let seq = end; seq > this.#lastSeq; seq--) {
      if (!this.#early.has(seq)) {
        return seq;
      }
    }
    return undefined;
  }

  #skipTo(end: number): void {
    while (this.#lastSeq < end) {
      this.#deliverReady();
      if (this.#lastSeq < end) {
        const next = Math.min(end + 1, ...this.#early.keys());
        const fromSeq = this.#lastSeq + 1;
        this.#lastSeq = next - 1;
        this.#deliver({ kind: 'gap', seq: next - 1, fromSeq });
      }
    }
    this.#deliverReady();
  }
}

function isFull({ chunks }: FetchedEvents): boolean {
  const bytes = chunks.reduce((sum, { chunk }) => sum + chunk.byteLength, 0);
  return bytes >= fullWindowBytes || chunks.length >= fullWindowChunks;
}
