import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface CordonServer {
  /** What it printed: `ws://…`, or `unix:PATH`. */
  readonly url: string;
  readonly pid: number;
  kill(): void;
  dispose(): Promise<void>;
}

const program = join(import.meta.dirname, '../../dist/cli.js');

/** Cordon's own exec-server, as `npm run build` leaves it. */
export async function startCordonServer(
  listen = 'ws://127.0.0.1:0',
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = process.env,
): Promise<CordonServer> {
  const child = spawn(process.execPath, [program, 'exec-server', '--listen', listen, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
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
