import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { Emitter } from '../base/event.ts';
import type { ChildExit, ChildHandle, ChildOutput, ChildSpec } from './childHandle.ts';
import { drainTimeoutMs, maxPendingInput } from './childHandle.ts';
import { destroyWhenRead, whenRead } from './destroyWhenRead.ts';
import { signalNumber } from './processGroup.ts';

export interface PipeChildSpec extends ChildSpec {
  readonly pipeStdin: boolean;
  /** After the exit waits for whoever holds the output, however long, until {@link ChildHandle.endDrain}. */
  readonly drainsFully?: boolean;
}

/**
 * Starts a child on pipes, in a session and process group of its own.
 * Rejects with Node's spawn error (`ENOENT`, `EACCES`, `E2BIG`, …) when it cannot start.
 */
export async function startPipeChild(spec: PipeChildSpec): Promise<ChildHandle> {
  const [file, ...args] = spec.argv;
  const child = spawn(file, args, {
    cwd: spec.cwd,
    env: spec.env,
    detached: true,
    stdio: [spec.pipeStdin ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  });
  const output = new Emitter<ChildOutput>();
  const exited = new Emitter<ChildExit>();
  const drained = new Emitter<void>();

  const streams: readonly [Readable, Readable] = [child.stdout as Readable, child.stderr as Readable];
  streams[0].on('data', (chunk: Buffer) => output.fire({ stream: 'stdout', chunk }));
  streams[1].on('data', (chunk: Buffer) => output.fire({ stream: 'stderr', chunk }));
  // A child that closes its input early makes later writes fail: that is its right, not an error of ours.
  child.stdin?.on('error', () => {});

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
  child.once('close', () => {
    announceExit();
    state.isClosed = true;
    clearTimeout(state.timer);
    drained.fire();
  });

  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  child.on('error', () => {});

  return {
    pid: child.pid as number,
    onOutput: output.event,
    onExit: exited.event,
    onDrained: drained.event,
    write: (bytes) => {
      if (child.stdin === null || !child.stdin.writable) {
        return false;
      }
      child.stdin.write(bytes);
      return true;
    },
    endInput: () => void child.stdin?.end(),
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
      const { stdin } = child;
      if (stdin !== null && stdin.writableLength > maxPendingInput && !stdin.destroyed) {
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
