import type { Disposable } from '../base/disposable.ts';

/** Time, replaceable in tests. */
export interface Clock {
  now(): number;
  /** Runs the action once after that many milliseconds, unless disposed before. */
  after(delayMs: number, action: () => void): Disposable;
}

/** Where paced output goes. */
export interface PacerSink {
  write(bytes: Uint8Array): void;
  /** Stands for that many bytes which came before the next `write` and are not shown. */
  gap(droppedBytes: number): void;
}

export interface PacerLimits {
  /** Writes are at least this far apart. */
  readonly intervalMs: number;
  /** One write is at most this long. */
  readonly writeBytes: number;
  /** Sustained rate: a long write is followed by a longer pause. */
  readonly bytesPerSecond: number;
  /** A backlog beyond this loses its older part. */
  readonly backlogBytes: number;
  /** How much of the end of an overlong backlog is kept. */
  readonly tailBytes: number;
  /** Gaps are at least this far apart, so that a flood does not become a flood of gap lines. */
  readonly gapIntervalMs: number;
}

/**
 * A pseudoterminal accepts any amount at once and then freezes the window, because the editor
 * acknowledges nothing: these limits keep a loaded two-core machine responsive.
 */
export const defaultPacerLimits: PacerLimits = {
  intervalMs: 16,
  writeBytes: 64 * 1024,
  bytesPerSecond: 2 * 1024 * 1024,
  backlogBytes: 1024 * 1024,
  tailBytes: 128 * 1024,
  gapIntervalMs: 250,
};

export const systemClock: Clock = {
  now: () => performance.now(),
  after(delayMs, action) {
    const timer = setTimeout(action, delayMs);
    return { dispose: () => clearTimeout(timer) };
  },
};

/**
 * Passes output on at a bounded pace: coalesces small pieces, splits large ones, and when the source
 * is too fast drops the older part of the backlog at line boundaries. Memory is bounded by the backlog.
 */
export class OutputPacer implements Disposable {
  readonly #sink: PacerSink;
  readonly #limits: PacerLimits;
  readonly #clock: Clock;
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #droppedBytes = 0;
  #pendingGap = 0;
  #isHeld = true;
  #nextWriteAt = 0;
  #nextGapAt = 0;
  #timer: Disposable | undefined;
  #onDrained: (() => void) | undefined;
  #isDisposed = false;

  /** Holds everything back until {@link release}. */
  constructor(sink: PacerSink, limits: PacerLimits = defaultPacerLimits, clock: Clock = systemClock) {
    this.#sink = sink;
    this.#limits = limits;
    this.#clock = clock;
  }

  /** How many bytes were left out so far. */
  get droppedBytes(): number {
    return this.#droppedBytes;
  }

  push(bytes: Uint8Array): void {
    if (this.#isDisposed || bytes.length === 0) {
      return;
    }
    this.#queue.push(bytes);
    this.#queuedBytes += bytes.length;
    if (this.#queuedBytes > this.#limits.backlogBytes) {
      this.#dropOldest();
    }
    this.#schedule();
  }

  release(): void {
    this.#isHeld = false;
    this.#schedule();
  }

  /** Calls back once, when everything that was pushed so far has been written. */
  onceDrained(action: () => void): void {
    this.#onDrained = action;
    this.#schedule();
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#timer?.dispose();
    this.#queue = [];
    this.#queuedBytes = 0;
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#isHeld || this.#isDisposed) {
      return;
    }
    if (this.#queuedBytes === 0 && this.#pendingGap === 0) {
      const drained = this.#onDrained;
      this.#onDrained = undefined;
      drained?.();
      return;
    }
    const due = this.#pendingGap > 0 ? Math.max(this.#nextWriteAt, this.#nextGapAt) : this.#nextWriteAt;
    this.#timer = this.#clock.after(Math.max(0, due - this.#clock.now()), () => {
      this.#timer = undefined;
      this.#flush();
      this.#schedule();
    });
  }

  #flush(): void {
    const now = this.#clock.now();
    if (this.#pendingGap > 0) {
      if (now < this.#nextGapAt) {
        // The backlog overflowed while the timer was running: the pause between gaps counts from now on.
        return;
      }
      this.#nextGapAt = now + this.#limits.gapIntervalMs;
      const droppedBytes = this.#pendingGap;
      this.#pendingGap = 0;
      this.#sink.gap(droppedBytes);
    }
    const bytes = this.#take(this.#limits.writeBytes);
    this.#nextWriteAt =
      now + Math.max(this.#limits.intervalMs, (bytes.length / this.#limits.bytesPerSecond) * 1000);
    if (bytes.length > 0) {
      this.#sink.write(bytes);
    }
  }

  #take(maxBytes: number): Uint8Array {
    const taken: Uint8Array[] = [];
    let size = 0;
    let count = 0;
    while (count < this.#queue.length && size < maxBytes) {
      const chunk = this.#queue[count] as Uint8Array;
      const room = maxBytes - size;
      if (chunk.length > room) {
        taken.push(chunk.subarray(0, room));
        this.#queue[count] = chunk.subarray(room);
        size += room;
        break;
      }
      taken.push(chunk);
      size += chunk.length;
      count += 1;
    }
    this.#queue.splice(0, count);
    this.#queuedBytes -= size;
    return taken.length === 1 ? (taken[0] as Uint8Array) : Buffer.concat(taken, size);
  }

  #dropOldest(): void {
    const backlog = Buffer.concat(this.#queue, this.#queuedBytes);
    const tailStart = backlog.length - this.#limits.tailBytes;
    const lineEnd = backlog.indexOf(newline, tailStart);
    const start = lineEnd === -1 || lineEnd + 1 === backlog.length ? tailStart : lineEnd + 1;
    // A copy: a view would keep the whole backlog's memory alive.
    const tail = Uint8Array.prototype.slice.call(backlog, start);
    this.#queue = [tail];
    this.#queuedBytes = tail.length;
    this.#pendingGap += start;
    this.#droppedBytes += start;
  }
}

const newline = 0x0a;
