import { ClientRequest } from 'node:http';
import type { LookupAddress } from 'node:dns';
import { Socket, isIPv6 } from 'node:net';
import type { Duplex } from 'node:stream';
import type { UpstreamProxy } from './upstream.ts';

const connectTimeoutMs = 30_000;
/** How long one of several addresses may take before the next one is tried. */
const attemptTimeoutMs = 1_000;

/** Called with every socket as soon as it exists: who opened the door can close it. */
export type Own = (socket: Socket) => void;

/**
 * Connects to one of these addresses, in their order. The socket is made here and not by `net.connect`, because the
 * editor replaces that in extensions. Rejects with the system's error.
 */
export async function dial(addresses: readonly string[], port: number, own: Own): Promise<Socket> {
  const socket = new Socket({ allowHalfOpen: true });
  own(socket);
  socket.setNoDelay(true);
  const found = addresses.map((address): LookupAddress => ({ address, family: isIPv6(address) ? 6 : 4 }));
  socket.connect({
    host: 'admitted.invalid',
    port,
    lookup: (_name, _options, callback) => callback(null, found),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: attemptTimeoutMs,
  });
  return connected(socket);
}

/** The same through a proxy of the machine's own, which is reached by its name. */
export async function dialUpstream({ host, port }: UpstreamProxy, own: Own): Promise<Socket> {
  const socket = new Socket({ allowHalfOpen: true });
  own(socket);
  socket.setNoDelay(true);
  socket.connect({ host, port });
  return connected(socket);
}

/** Asks the upstream proxy for a tunnel. */
export async function openTunnel(socket: Socket, proxy: UpstreamProxy, place: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const request = new ClientRequest({
      method: 'CONNECT',
      path: place,
      setHost: false,
      headers: {
        Host: place,
        ...(proxy.authorization !== undefined && { 'Proxy-Authorization': proxy.authorization }),
      },
      createConnection: () => socket,
    });
    const refuse = (status: number | undefined): void => {
      socket.destroy();
      reject(
        Object.assign(new Error('refused by the upstream proxy'), { code: `upstream proxy: ${status}` }),
      );
    };
    request.once('error', reject);
    request.once('response', ({ statusCode }) => refuse(statusCode));
    request.once('connect', ({ statusCode }, tunnel: Duplex, head: Buffer) => {
      if (statusCode !== 200) {
        refuse(statusCode);
        return;
      }
      if (head.length > 0) {
        tunnel.unshift(head);
      }
      resolve(socket);
    });
    request.end();
  });
}

async function connected(socket: Socket): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      socket.destroy(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' }));
    }, connectTimeoutMs);
    socket.once('error', reject);
    socket.once('close', () => {
      clearTimeout(timer);
      reject(Object.assign(new Error('closed'), { code: 'ECONNABORTED' }));
    });
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.removeListener('error', reject);
      resolve(socket);
    });
  });
}
