import { spawn } from 'node:child_process';
import { Socket } from 'node:net';
import type { ChildExit } from './childHandle.ts';
import type { PipedChild, PipedSpec } from './pipedChild.ts';
import { signalNumber } from './processGroup.ts';
import type { Spawners } from './spawners.ts';

/**
 * Starts a child by the spawner, or where there is none by Node: on sockets, which cannot be opened as `/dev/stdout`.
 * Rejects with Node's spawn error (`ENOENT`, `EACCES`, `E2BIG`, …) when it cannot start.
 */
export async function spawnPiped(spec: PipedSpec, spawners: Spawners | undefined): Promise<PipedChild> {
  const spawner = await spawners?.get();
  return spawner === undefined ? spawnOnSockets(spec) : spawner.start(spec);
}

async function spawnOnSockets({ argv, cwd, env, pipeStdin }: PipedSpec): Promise<PipedChild> {
  const [file, ...args] = argv;
  const stdio = [pipeStdin ? 'pipe' : 'ignore', 'pipe', 'pipe'] as const;
  const child = spawn(file, args, { cwd, env, detached: true, stdio: [...stdio] });
  const exited = new Promise<ChildExit>((resolve) =>
    child.once('exit', (code, signal) =>
      resolve(signal === null ? { exitCode: code ?? 0 } : { exitCode: 128 + signalNumber(signal), signal }),
    ),
  );
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.on('error', reject);
  });
  const { pid, stdin, stdout, stderr } = child;
  if (pid === undefined || !(stdout instanceof Socket && stderr instanceof Socket)) {
    throw new Error('no more files can be open (EMFILE)');
  }
  return { pid, exited, streams: [stdout, stderr], forget: () => {}, ...(stdin !== null && { stdin }) };
}
