import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { SpawnedServer } from './spawnedServer.ts';
import { whenListening } from './spawnedServer.ts';

const program = join(import.meta.dirname, '../../dist/cli.js');

/** Cordon's own exec-server, as `npm run build` leaves it. */
export async function startCordonServer(
  listen = 'ws://127.0.0.1:0',
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = process.env,
): Promise<SpawnedServer> {
  const child = spawn(process.execPath, [program, 'exec-server', '--listen', listen, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return whenListening(child);
}
