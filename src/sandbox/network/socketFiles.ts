import { randomUUID } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';

const namePattern = /^(?:net|part)-[\w-]+\.sock$/;
/** Between making a socket and listening on it nobody answers, either. */
const youngMs = 60_000;

/** A new name: of the proxy of a network, or of the door for parts of a script. */
export function socketPathIn(folder: string, kind: 'net' | 'part'): string {
  // Node keeps random bytes ready for these alone; its half is enough to be new, and paths of sockets are short.
  return join(folder, `${kind}-${randomUUID().replaceAll('-', '').slice(16)}.sock`);
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
