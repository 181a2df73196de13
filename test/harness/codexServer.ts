import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ensureCodex } from '../../scripts/codex.mjs';

export interface CodexServer {
  readonly url: string;
  readonly pid: number;
  kill(): void;
  dispose(): Promise<void>;
}

/** The real `codex exec-server` on loopback, with a home of its own. */
export async function startCodexServer(...args: readonly string[]): Promise<CodexServer> {
  const program = await ensureCodex();
  // Its home must not lie in the temporary folder, or it makes no helpers there and no sandbox works.
  const home = await mkdtemp(join('/var/tmp', 'cordon-codex-'));
  const child = spawn(program, ['exec-server', '--listen', 'ws://127.0.0.1:0', ...args], {
    env: { ...process.env, CODEX_HOME: home, TMPDIR: '/tmp' },
    stdio: ['ignore', 'pipe', 'ignore'],
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
      await rm(home, { recursive: true, force: true });
    },
  };
}
