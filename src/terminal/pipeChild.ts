import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { Emitter } from '../base/event.ts';
import type { ChildExit, ChildHandle, ChildOutput, ChildSpec } from './childHandle.ts';
import { drainTimeoutMs } from './childHandle.ts';
import { destroyWhenRead } from './destroyWhenRead.ts';
import { signalNumber } from './processGroup.ts';

/**
 * Starts a child on pipes, in a session and process group of its own.
 * Rejects with Node's spawn error (`ENOENT`, `EACCES`, `E2BIG`, …) when it cannot start.
 */
export async function startPipeChild(
  spec: ChildSpec & { readonly pipeStdin: boolean },
): Promise<ChildHandle> {
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

  const drainLimit: { timer?: NodeJS.Timeout } = {};
  child.once('exit', (code, signal) => {
    drainLimit.timer = setTimeout(
      () => streams.forEach((stream) => destroyWhenRead(stream, () => stream.destroy())),
      drainTimeoutMs,
    );
    exited.fire(signal === null ? { exitCode: code ?? 0 } : { exitCode: 128 + signalNumber(signal), signal });
  });
  child.once('close', () => {
    clearTimeout(drainLimit.timer);
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
  };
}
