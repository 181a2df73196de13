import type { Readable } from 'node:stream';

/** More than the kernel holds for a pipe or terminal: beyond it, somebody is still writing. */
const maxPendingBytes = 1024 * 1024;

/**
 * Destroys a stream as soon as nothing is ready to be read, at most a MiB later. A timer alone would throw
 * output away: after the event loop was blocked, timers fire before what has arrived meanwhile is read.
 */
export function destroyWhenRead(stream: Readable, destroy: () => void): void {
  whenRead([stream], destroy);
}

/**
 * Calls back as soon as nothing is ready to be read from streams that others listen to, at most a MiB later. They
 * flow until then, paused or not: what the kernel holds of a child that has ended is little.
 */
export function whenRead(streams: readonly Readable[], action: () => void): void {
  const seen = { bytes: 0, isNew: false };
  const onData = (chunk: Uint8Array): void => {
    seen.bytes += chunk.byteLength;
    seen.isNew = true;
  };
  // An immediate runs after the loop has read what is ready.
  const afterReading = (): void => {
    if (seen.isNew && seen.bytes < maxPendingBytes && streams.some(({ destroyed }) => !destroyed)) {
      seen.isNew = false;
      setImmediate(afterReading);
    } else {
      streams.forEach((stream) => stream.off('data', onData));
      action();
    }
  };
  for (const stream of streams) {
    stream.on('data', onData);
    stream.resume();
  }
  // One that was opened just now is not looked at before the loop's next round.
  setImmediate(() => setImmediate(afterReading));
}
