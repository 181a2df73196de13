import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** An exec-server, Cordon's or another, in a process of its own. */
export interface SpawnedServer {
  /** What it printed: `ws://…`, or `unix:PATH`. */
  readonly url: string;
  readonly pid: number;
  kill(): void;
  dispose(): Promise<void>;
}

/** Waits until it says where it listens. */
export async function whenListening(
  child: ChildProcessByStdio<null, Readable, null>,
): Promise<SpawnedServer> {
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
  return {
    url,
    pid: child.pid as number,
    kill: () => void child.kill('SIGKILL'),
    async dispose() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGTERM');
        await once(child, 'exit');
      }
    },
  };
}
