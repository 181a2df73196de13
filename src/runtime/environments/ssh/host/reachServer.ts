import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

/** The server does not start. */
export class NoServer extends Error {}

/** How long a session waits for a connection that was lost: a walk with the machine under the arm. */
const detachedSeconds = 15 * 60;
/** How long a server without sessions waits for the next. */
const idleSeconds = 60;

/**
 * A connection to the bundle's server, which is started when there is none. It outlives every connection: its sessions
 * are found again by the next one.
 */
export async function reachServer(bundle: string, socketPath: string, logPath: string): Promise<Socket> {
  const running = await tryConnect(socketPath);
  if (running !== undefined) {
    return running;
  }
  const said = await startServer(bundle, socketPath, logPath);
  // Another connection may have started one at the same time, which is as good.
  const started = await tryConnect(socketPath);
  if (started === undefined) {
    throw new NoServer(said);
  }
  return started;
}

async function tryConnect(path: string): Promise<Socket | undefined> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return socket;
  } catch {
    socket.destroy();
    return undefined;
  }
}

/** Resolves when it listens, or has ended; with what it said in the latter case. */
async function startServer(bundle: string, socketPath: string, logPath: string): Promise<string> {
  const log = openSync(logPath, 'w', 0o600);
  const server = spawn(
    process.execPath,
    [
      join(bundle, 'cli.js'),
      'exec-server',
      ...['--listen', `unix:${socketPath}`],
      ...['--detached-seconds', String(detachedSeconds)],
      ...['--exit-when-idle', String(idleSeconds)],
    ],
    { detached: true, stdio: ['ignore', 'pipe', log], cwd: '/' },
  );
  closeSync(log);
  const stdout = server.stdout as Readable;
  server.unref();
  // Its address, once it listens.
  await Promise.race([once(stdout, 'data'), once(server, 'exit'), once(server, 'error')]).catch(
    () => undefined,
  );
  stdout.destroy();
  return readFileSync(logPath, 'utf8').trim().slice(-2_000);
}
