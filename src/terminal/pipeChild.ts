import type { Readable } from 'node:stream';
import { Emitter } from '../base/event.ts';
import type { ChildExit, ChildHandle, ChildOutput } from './childHandle.ts';
import { drainTimeoutMs, maxPendingInput } from './childHandle.ts';
import { destroyWhenRead, whenRead } from './destroyWhenRead.ts';
import type { PipedSpec } from './pipedChild.ts';
import type { Spawners } from './spawners.ts';
import { spawnPiped } from './spawnPiped.ts';

export interface PipeChildSpec extends PipedSpec {
  /** Who starts it; without one, Node does, which takes longer and has no real pipes. */
  readonly spawners?: Spawners;
  /** After the exit waits for whoever holds the output, however long, until {@link ChildHandle.endDrain}. */
  readonly drainsFully?: boolean;
}

/**
 * Starts a child on pipes, in a session and process group of its own.
 * Rejects with Node's spawn error (`ENOENT`, `EACCES`, `E2BIG`, …) when it cannot start.
 */
export async function startPipeChild(spec: PipeChildSpec): Promise<ChildHandle> {
  const { pid, exited: ended, forget, stdin, streams } = await spawnPiped(spec, spec.spawners);
  // A child that closes its input early makes later writes fail: that is its right, not an error of ours.
  stdin?.on('error', () => {});
  const output = new Emitter<ChildOutput>();
  const exited = new Emitter<ChildExit>();
  const drained = new Emitter<void>();

  streams[0].on('data', (chunk: Buffer) => output.fire({ stream: 'stdout', chunk }));
  streams[1].on('data', (chunk: Buffer) => output.fire({ stream: 'stderr', chunk }));

  const state: {
    isPaused: boolean;
    hasExited: boolean;
    isClosed: boolean;
    drainMs?: number;
    timer?: NodeJS.Timeout;
  } = { isPaused: false, hasExited: false, isClosed: false };
  if (spec.drainsFully !== true) {
    state.drainMs = drainTimeoutMs;
  }
  const limitDrain = (): void => {
    if (state.hasExited && state.drainMs !== undefined && !state.isClosed) {
      clearTimeout(state.timer);
      state.timer = setTimeout(
        () => streams.forEach((stream) => destroyWhenRead(stream, () => stream.destroy())),
        state.drainMs,
      );
    }
  };
  // Whoever judges the exit by the output wants all that came before it.
  const announceExit = (exit: ChildExit): void => {
    if (!state.hasExited) {
      state.hasExited = true;
      exited.fire(exit);
      limitDrain();
    }
  };
  void ended.then((exit) => {
    stdin?.destroy();
    whenRead(streams, () => {
      announceExit(exit);
      if (state.isPaused) {
        streams.forEach((stream) => stream.pause());
      }
    });
  });
  void Promise.all([ended, ...streams.map(closed)]).then(([exit]) => {
    announceExit(exit);
    state.isClosed = true;
    clearTimeout(state.timer);
    forget();
    drained.fire();
  });

  return {
    pid,
    onOutput: output.event,
    onExit: exited.event,
    onDrained: drained.event,
    write: (bytes) => {
      if (stdin?.writable !== true) {
        return false;
      }
      stdin.write(bytes);
      return true;
    },
    endInput: () => void stdin?.end(),
    resize: () => {},
    pause: () => {
      state.isPaused = true;
      streams.forEach((stream) => stream.pause());
    },
    resume: () => {
      state.isPaused = false;
      streams.forEach((stream) => stream.resume());
    },
    whenWritable: async () => {
      if (stdin !== undefined && stdin.writableLength > maxPendingInput && !stdin.destroyed) {
        await new Promise<void>((resolve) => {
          const done = (): void => {
            stdin.off('drain', done);
            stdin.off('close', done);
            resolve();
          };
          stdin.on('drain', done);
          stdin.on('close', done);
        });
      }
    },
    endDrain: () => {
      state.drainMs = 0;
      limitDrain();
    },
  };
}

async function closed(stream: Readable): Promise<void> {
  await new Promise<void>((resolve) => stream.once('close', resolve));
}
