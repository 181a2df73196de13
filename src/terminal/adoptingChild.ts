import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { Emitter } from '../base/event.ts';
import type { ChildExit, ChildHandle, ChildSpec } from './childHandle.ts';
import { signalNumber } from './processGroup.ts';

/**
 * Starts a child that takes its standard streams from a connection, which it has as standard input: nothing of what
 * it reads and writes comes by here. In a session and process group of its own. The connection is the child's from
 * now on, also when it cannot start; then this rejects with Node's spawn error.
 */
export async function startAdoptingChild(spec: ChildSpec, connection: Socket): Promise<ChildHandle> {
  const [file, ...args] = spec.argv;
  const exited = new Emitter<ChildExit>();
  const drained = new Emitter<void>();
  const child = spawn(file, args, {
    cwd: spec.cwd,
    env: spec.env,
    detached: true,
    stdio: [connection, 'ignore', 'ignore'],
  });
  // The child has a copy.
  connection.destroy();
  child.once('exit', (code, signal) => {
    exited.fire(signal === null ? { exitCode: code ?? 0 } : { exitCode: 128 + signalNumber(signal), signal });
    drained.fire();
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  child.on('error', () => {});
  return {
    pid: child.pid as number,
    onOutput: new Emitter<never>().event,
    onExit: exited.event,
    onDrained: drained.event,
    write: () => false,
    endInput: () => {},
    resize: () => {},
    pause: () => {},
    resume: () => {},
    whenWritable: async () => {},
    endDrain: () => {},
  };
}
