import { constants } from 'node:buffer';
import { once } from 'node:events';
import { lstat } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { WebSocket } from 'ws';
import { linesTransport } from '../transport/lines.ts';
import { webSocketTransport } from '../transport/webSocket.ts';
import type { Dial } from './execClient.ts';

/** Servers may send messages of any length; what no string can hold is none. */
const maxPayload = constants.MAX_STRING_LENGTH;

/** A server that answered, but not with a connection. */
export class ConnectionRefused extends Error {
  /** Of HTTP: 401 is a wrong key. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'ConnectionRefused';
    this.status = status;
  }
}

/** To a server that listens on a WebSocket. The token is sent as `Authorization: Bearer`. */
export function dialWebSocket(url: string, { token }: { readonly token?: string } = {}): Dial {
  return async (signal) => {
    signal.throwIfAborted();
    const socket = new WebSocket(url, {
      perMessageDeflate: false,
      maxPayload,
      followRedirects: false,
      ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = (): void => reject(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    socket.once('open', resolve);
    // Stays: an error without a listener would end the program.
    socket.on('error', reject);
    socket.once('unexpected-response', (request, response) => {
      const chunks: Buffer[] = [];
      let length = 0;
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        length += chunk.length;
        if (length > mostErrorText) {
          response.destroy();
        }
      });
      response.once('close', () => {
        request.destroy();
        const text = Buffer.concat(chunks).toString().trim().slice(0, 200);
        const status = response.statusCode ?? 0;
        reject(new ConnectionRefused(status, `${url} answered ${status}${text === '' ? '' : `: ${text}`}`));
      });
    });
    try {
      await promise;
    } catch (cause) {
      socket.terminate();
      throw cause;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
    return webSocketTransport(socket, `exec-server websocket ${new URL(url).host}`, { acknowledges: true });
  };
}

/**
 * To a server of this user that listens on a Unix socket. Whoever else could have put a socket there would be told
 * everything, and could say that it ran confined: so its folder must be this user's alone, as the server wants it, too.
 */
export function dialUnixSocket(path: string): Dial {
  return async (signal) => {
    await expectOwn(path);
    const socket = connect({ path });
    try {
      await once(socket, 'connect', { signal });
    } catch (cause) {
      socket.destroy();
      throw cause;
    }
    return linesTransport(socket, socket, `exec-server socket ${path}`);
  };
}

async function expectOwn(path: string): Promise<void> {
  const user = process.getuid?.();
  const [folder, socket] = await Promise.all([lstat(dirname(path)), lstat(path)]);
  if (user === undefined) {
    return;
  }
  if (!folder.isDirectory() || folder.uid !== user || (folder.mode & 0o077) !== 0) {
    throw new Error(`others can put a server of theirs into ${dirname(path)}`);
  }
  if (!socket.isSocket() || socket.uid !== user) {
    throw new Error(`${path} is not a socket of this user`);
  }
}

const mostErrorText = 2_000;
