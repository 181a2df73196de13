import type { EventEmitter } from 'node:events';
import { Emitter } from '../base/event.ts';
import type { ChildExit, ChildHandle, ChildOutput } from './childHandle.ts';
import { drainTimeoutMs, maxPendingInput } from './childHandle.ts';
import { destroyWhenRead, whenRead } from './destroyWhenRead.ts';
import { signalNumber } from './processGroup.ts';
import type { PipedSpec } from './spawnOnPipes.ts';
import { spawnOnPipes } from './spawnOnPipes.ts';

export interface PipeChildSpec extends PipedSpec {
  /** After the exit waits for whoever holds the output, however long, until {@link ChildHandle.endDrain}. */
  readonly drainsFully?: boolean;
}

/**
 * Starts a child on pipes, in a session and process group of its own.
 * Rejects with Node's spawn error (`ENOENT`, `EACCES`, `E2BIG`, …) when it cannot start.
 */
export async function startPipeChild(spec: PipeChildSpec): Promise<ChildHandle> {
  const { child, started, stdin, streams } = await spawnOnPipes(spec);
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
  const ended: { exit?: ChildExit } = {};
  // Whoever judges the exit by the output wants all that came before it.
  const announceExit = (): void => {
    if (ended.exit !== undefined && !state.hasExited) {
      state.hasExited = true;
      exited.fire(ended.exit);
      limitDrain();
    }
  };
  child.once('exit', (code, signal) => {
    ended.exit = signal === null ? { exitCode: code ?? 0 } : { exitCode: 128 + signalNumber(signal), signal };
    whenRead(streams, () => {
      announceExit();
      if (state.isPaused) {
        streams.forEach((stream) => stream.pause());
      }
    });
  });
  whenAllClosed([child, ...streams], () => {
    announceExit();
    state.isClosed = true;
    clearTimeout(state.timer);
    drained.fire();
  });
  await started;

  return {
    pid: child.pid as number,
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

/** Of a child, `close` is the end of it and of the streams that Node has made for it. */
function whenAllClosed(emitters: readonly EventEmitter[], action: () => void): void {
  let open = emitters.length;
  emitters.forEach((emitter) => emitter.once('close', () => (open -= 1) === 0 && action()));
}
