import { readdir, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';

const namePattern = /^net-[\w-]+\.sock$/;
/** Between making a socket and listening on it nobody answers, either. */
const youngMs = 60_000;

export function socketPathIn(folder: string, name: string): string {
  return join(folder, `net-${name}.sock`);
}

/** Removes the sockets of runtimes that were killed: those on which nobody listens any more. */
export async function sweepSockets(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => namePattern.test(name));
  await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      const entry = await stat(path).catch(() => undefined);
      if (entry !== undefined && Date.now() - entry.mtimeMs > youngMs && (await isDead(path))) {
        await rm(path, { force: true });
      }
    }),
  );
}

async function isDead(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
  });
}
