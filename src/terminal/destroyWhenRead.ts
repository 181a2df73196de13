import type { Readable } from 'node:stream';

/** More than the kernel holds for a pipe or terminal: beyond it, somebody is still writing. */
const maxPendingBytes = 1024 * 1024;

/**
 * Destroys a flowing stream as soon as nothing is ready to be read, at most a MiB later. A timer alone would throw
 * output away: after the event loop was blocked, timers fire before what has arrived meanwhile is read.
 */
export function destroyWhenRead(stream: Readable, destroy: () => void): void {
  const seen = { bytes: 0, isNew: false };
  const onData = (chunk: Uint8Array): void => {
    seen.bytes += chunk.byteLength;
    seen.isNew = true;
  };
  // An immediate runs after the loop has read what is ready.
  const afterReading = (): void => {
    if (seen.isNew && seen.bytes < maxPendingBytes && !stream.destroyed) {
      seen.isNew = false;
      setImmediate(afterReading);
    } else {
      stream.off('data', onData);
      destroy();
    }
  };
  stream.on('data', onData);
  setImmediate(afterReading);
}
