import type { Socket } from 'node:net';
import { readGreeting } from './serverName.ts';

/** A tunnel may be quiet for long: a shell over ssh, a socket that waits for news. */
const idleMs = 60 * 60_000;
const lastWordMs = 5_000;
/** The largest ClientHello that browsers and libraries send is a fraction of it. */
const longestGreeting = 65_536;

/**
 * Joins two open sockets, each direction with its own end and backpressure, until both have ended or one breaks.
 * The first bytes of the client are held until they show that no other server than the admitted one is meant; what the server
 * says is passed on at once, because in some protocols it speaks first.
 */
export async function joinSockets(
  client: Socket,
  remote: Socket,
  admits: (serverName: string) => boolean,
): Promise<void> {
  tie(client, remote);
  tie(remote, client);
  client.setTimeout(idleMs, () => client.destroy());
  remote.pipe(client);
  const greeting = await takeGreeting(client);
  if (greeting.serverName !== undefined && !admits(greeting.serverName)) {
    client.destroy();
    return;
  }
  if (greeting.isEnded) {
    remote.end(greeting.bytes);
    return;
  }
  if (greeting.bytes.length > 0) {
    remote.write(greeting.bytes);
  }
  client.pipe(remote);
}

/**
 * Says a last word and closes. What the other side still sends is read and thrown away: closing over unread bytes would take
 * the word back.
 */
export function endGently(socket: Socket, lastWord: string | Uint8Array): void {
  socket.end(lastWord);
  socket.resume();
  socket.setTimeout(lastWordMs, () => socket.destroy());
}

/** When one is gone before both have ended, the other has nobody left to talk to. */
function tie(socket: Socket, other: Socket): void {
  socket.on('error', () => other.destroy());
  socket.once('close', () => {
    if (!socket.readableEnded || !socket.writableFinished) {
      other.destroy();
    }
  });
  if (socket.destroyed) {
    other.destroy();
  }
}

interface Taken {
  readonly bytes: Buffer;
  readonly serverName?: string | undefined;
  readonly isEnded: boolean;
}

async function takeGreeting(client: Socket): Promise<Taken> {
  return new Promise((resolve) => {
    let bytes: Buffer = Buffer.alloc(0);
    const finish = (taken: Omit<Taken, 'bytes'>): void => {
      client.pause();
      client.removeListener('data', take);
      client.removeListener('end', end);
      resolve({ bytes, ...taken });
    };
    const take = (chunk: Buffer): void => {
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
      const greeting = readGreeting(bytes);
      if (greeting.kind !== 'incomplete') {
        finish({ isEnded: false, ...(greeting.kind === 'tls' && { serverName: greeting.serverName }) });
      } else if (bytes.length > longestGreeting) {
        client.destroy();
      }
    };
    const end = (): void => finish({ isEnded: true });
    client.on('data', take);
    client.once('end', end);
    client.resume();
  });
}
