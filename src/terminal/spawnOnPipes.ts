import type { ChildProcess, StdioOptions } from 'node:child_process';
import { spawn } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import type { ChildSpec } from './childHandle.ts';
import type { PipeFactory } from './pipeFactory.ts';
import type { Pipe } from './pipeMaker.ts';

export interface PipedSpec extends ChildSpec {
  readonly pipeStdin: boolean;
  /** Where real pipes come from; without it, the child gets sockets, which cannot be opened as `/dev/stdout`. */
  readonly pipes?: PipeFactory;
}

export interface PipedChild {
  readonly child: ChildProcess;
  /** Rejects with Node's spawn error. */
  readonly started: Promise<void>;
  readonly stdin?: Writable;
  /** Standard output and standard error. */
  readonly streams: readonly [Readable, Readable];
}

/** Starts a child in a session and process group of its own. Rejects with some of Node's spawn errors. */
export async function spawnOnPipes(spec: PipedSpec): Promise<PipedChild> {
  const pipes = await spec.pipes?.take(spec.pipeStdin ? 3 : 2);
  return pipes === undefined ? spawnOnSockets(spec) : spawnWith(spec, pipes as [Pipe, Pipe, Pipe?]);
}

function spawnOnSockets(spec: PipedSpec): PipedChild {
  const { child, started } = spawnDetached(spec, [spec.pipeStdin ? 'pipe' : 'ignore', 'pipe', 'pipe']);
  const { stdin, stdout, stderr } = child;
  if (!(stdout instanceof Socket && stderr instanceof Socket)) {
    // Node has made none, and says so in a moment.
    throw new Error('no more files can be open (EMFILE)');
  }
  stdin?.on('error', ignore);
  return { child, started, streams: [stdout, stderr], ...(stdin !== null && { stdin }) };
}

function spawnWith(spec: PipedSpec, [output, errors, input]: readonly [Pipe, Pipe, Pipe?]): PipedChild {
  const streams = [
    new Socket({ fd: output.readEnd, readable: true, writable: false }),
    new Socket({ fd: errors.readEnd, readable: true, writable: false }),
  ] as const;
  const stdin =
    input === undefined ? undefined : new Socket({ fd: input.writeEnd, readable: false, writable: true });
  stdin?.on('error', ignore);
  const childEnds = [output.writeEnd, errors.writeEnd, ...(input === undefined ? [] : [input.readEnd])];
  try {
    if (input !== undefined) {
      // One that blocks, as programs expect.
      childEnds.push(openSync(`/proc/self/fd/${input.readEnd}`, constants.O_RDONLY));
    }
    const inputEnd = input === undefined ? 'ignore' : childEnds.at(-1);
    const { child, started } = spawnDetached(spec, [inputEnd, output.writeEnd, errors.writeEnd]);
    // As Node does with what it has made itself.
    child.once('exit', () => stdin?.destroy());
    child.once('error', () => stdin?.destroy());
    return { child, started, streams, ...(stdin !== undefined && { stdin }) };
  } catch (error) {
    [...streams, stdin].forEach((stream) => stream?.destroy());
    throw error;
  } finally {
    childEnds.forEach((end) => closeSync(end));
  }
}

function spawnDetached(
  { argv, cwd, env }: PipedSpec,
  stdio: StdioOptions,
): Pick<PipedChild, 'child' | 'started'> {
  const [file, ...args] = argv;
  const child = spawn(file, args, { cwd, env, detached: true, stdio });
  const started = new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.on('error', reject);
  });
  // Whoever gives up before it looks at this has an error of its own.
  started.catch(ignore);
  return { child, started };
}

/** A child that closes its input early makes later writes fail: that is its right, not an error of ours. */
function ignore(): void {}
