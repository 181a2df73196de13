import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureCodex } from '../../scripts/codex.mjs';
import type { SpawnedServer } from './spawnedServer.ts';
import { whenListening } from './spawnedServer.ts';

/** The real `codex exec-server` on loopback, with a folder of its own for its settings. */
export async function startCodexServer(...args: readonly string[]): Promise<SpawnedServer> {
  return startWith(args, {});
}

/** The same with a home folder of its own, too, so that its shells find no start-up files of the person. */
export async function startCodexServerAtHome(): Promise<SpawnedServer> {
  return startWith([], { isAtHome: true });
}

async function startWith(
  args: readonly string[],
  { isAtHome = false }: { readonly isAtHome?: boolean },
): Promise<SpawnedServer> {
  const program = await ensureCodex();
  // Its home must not lie in the temporary folder, or it makes no helpers there and no sandbox works.
  const home = await mkdtemp(join('/var/tmp', 'cordon-codex-'));
  const child = spawn(program, ['exec-server', '--listen', 'ws://127.0.0.1:0', ...args], {
    env: { ...process.env, ...(isAtHome && { HOME: home }), CODEX_HOME: home, TMPDIR: '/tmp' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const server = await whenListening(child);
  return {
    ...server,
    async dispose() {
      await server.dispose();
      await rm(home, { recursive: true, force: true });
    },
  };
}
