import { lstatSync, unlinkSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import type { Server } from 'node:net';
import { connect, createServer } from 'node:net';
import { dirname } from 'node:path';
import { linesTransport } from '../../transport/lines.ts';
import type { Accept, Listener } from './listener.ts';
import { maxMessageBytes } from './listener.ts';

/** The kernel's limit for the name of a socket. */
const longestPath = 107;
const maxConnections = 1024;

/**
 * Serves lines on a Unix socket that only this user reaches. Rejects when its folder is not this user's alone, or
 * something else is at the path.
 */
export async function listenUnix(path: string, accept: Accept): Promise<Listener> {
  expectUsable(path);
  await removeStale(path);
  const server = createServer((socket) => {
    accept(linesTransport(socket, socket, `exec-server unix ${path}`, { maxMessageBytes }));
  });
  server.maxConnections = maxConnections;
  await listen(server, path);
  await chmod(path, 0o600);
  return {
    address: `unix:${path}`,
    ended: new Promise<void>((resolve) => server.once('close', resolve)),
    // Node removes the socket.
    close: async () => void server.close(),
  };
}

function expectUsable(path: string): void {
  if (Buffer.byteLength(path) > longestPath) {
    throw new Error(`${path} is longer than ${longestPath} bytes. Choose a shorter path.`);
  }
  const folder = dirname(path);
  const entry = lstatSync(folder, { throwIfNoEntry: false });
  if (entry === undefined) {
    throw new Error(`${folder} is not an existing folder. Make it: mkdir -m 700 ${folder}`);
  }
  if (!entry.isDirectory()) {
    throw new Error(`${folder} is a link or a file, and must be a folder. Name the folder itself.`);
  }
  if (entry.uid !== process.getuid?.() || (entry.mode & 0o077) !== 0) {
    throw new Error(
      `${folder} belongs to another user or is open to others, who could reach the server. Choose a folder of your own, or: chmod 700 ${folder}`,
    );
  }
}

/** Of a server that was killed. One that still answers keeps its place. */
async function removeStale(path: string): Promise<void> {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined) {
    return;
  }
  if (!entry.isSocket()) {
    throw new Error(`${path} is there and is not a socket. Choose another path, or remove it.`);
  }
  const isServed = await new Promise<boolean>((resolve) => {
    const probe = connect(path);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', () => resolve(false));
  });
  if (isServed) {
    throw new Error(`${path} is served by another process. Choose another path, or end that one.`);
  }
  unlinkSync(path);
}

async function listen(server: Server, path: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // The socket is made here and now: it has its mode from the first moment.
    const mask = process.umask(0o177);
    server.listen(path, () => {
      server.off('error', reject);
      resolve();
    });
    process.umask(mask);
  });
}
