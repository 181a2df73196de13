import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

export interface SpawnOptions {
  /** `dist/cli.js`. */
  readonly program: string;
  /** Only this user may look into it; commands see nothing of it. */
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly patience?: ServerPatience;
}

export interface ServerPatience {
  /** How long sessions wait for the next program before they are ended. */
  readonly detachedSeconds: number;
  /** How long the server stays without a session. */
  readonly idleSeconds: number;
}

/** A window that loads again takes a few seconds, on a slow machine more. */
const defaultPatience: ServerPatience = { detachedSeconds: 60, idleSeconds: 5 };
const startMs = 20_000;

/**
 * Starts an exec-server that belongs to nobody, and ends when nobody needs it. Resolves with the path of its socket;
 * rejects with what the server said when it does not come up.
 */
export async function spawnServer({
  program,
  folder,
  environment,
  patience: { detachedSeconds, idleSeconds } = defaultPatience,
}: SpawnOptions): Promise<string> {
  removeOldLogs(folder);
  const name = join(folder, `exec-${randomBytes(6).toString('hex')}`);
  const path = `${name}${socketEnd}`;
  const logPath = `${name}${logEnd}`;
  // What it complains about must not depend on who reads.
  const log = openSync(logPath, 'a', 0o600);
  const args = [
    ...['exec-server', '--listen', `unix:${path}`, '--log', logPath],
    ...['--detached-seconds', String(detachedSeconds), '--exit-when-idle', String(idleSeconds)],
  ];
  const server = spawn(process.execPath, [program, ...args], {
    cwd: '/',
    detached: true,
    // The editor's own program is not only Node.
    env: { ...environment, ELECTRON_RUN_AS_NODE: '1' },
    stdio: ['ignore', 'pipe', log],
  });
  closeSync(log);
  const stdout = server.stdout as Readable;
  server.unref();
  try {
    await listening(stdout, new Promise((_, reject) => server.once('error', reject)));
    return path;
  } catch (cause) {
    server.kill('SIGKILL');
    const words = readFileSync(logPath, 'utf8').trim().slice(-longestComplaint);
    throw new Error(words === '' ? (cause as Error).message : words, { cause });
  } finally {
    stdout.destroy();
  }
}

/** It tells its address when it can be reached. */
async function listening(stdout: Readable, failed: Promise<never>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const told = new Promise<void>((resolve, reject) => {
    stdout.once('data', () => resolve());
    stdout.once('end', () => reject(new Error('it ended without a word')));
    timer = setTimeout(() => reject(new Error(`it said nothing for ${startMs / 1_000} s`)), startMs);
  });
  try {
    await Promise.race([told, failed]);
  } finally {
    clearTimeout(timer);
  }
}

/** A server removes its socket when it ends; its log stays for whoever looks for the reason. */
function removeOldLogs(folder: string): void {
  const names = readdirSync(folder);
  for (const name of names.filter((one) => one.startsWith('exec-') && one.endsWith(logEnd))) {
    if (!names.includes(`${name.slice(0, -logEnd.length)}${socketEnd}`)) {
      rmSync(join(folder, name), { force: true });
    }
  }
}

const socketEnd = '.sock';
const logEnd = '.log';
const longestComplaint = 2_000;
