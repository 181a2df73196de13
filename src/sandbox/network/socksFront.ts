import type { Socket } from 'node:net';
import { ByteReader, ConnectionEnded } from './byteReader.ts';
import type { Front } from './front.ts';
import type { Host } from './host.ts';
import { parseHost } from './host.ts';
import type { Refusal } from './refusal.ts';
import { endGently, joinSockets } from './tunnel.ts';

/** The first byte of every SOCKS5 connection, and of no HTTP request. */
export const socksVersion = 5;

const handshakeTimeoutMs = 60_000;
const noAuthentication = 0;
const noAcceptableMethod = 0xff;
const connectCommand = 1;
const addressTypes = { ipv4: 1, name: 3, ipv6: 4 } as const;
const replies = {
  granted: 0,
  failure: 1,
  notAllowed: 2,
  hostUnreachable: 4,
  connectionRefused: 5,
  commandNotSupported: 7,
  addressTypeNotSupported: 8,
} as const;

/** Serves one connection whose first byte is still to be read: SOCKS5 (RFC 1928), CONNECT only, nothing to log in with. */
export async function serveSocks(front: Front, socket: Socket): Promise<void> {
  socket.setTimeout(handshakeTimeoutMs, () => socket.destroy());
  socket.on('error', () => socket.destroy());
  const reader = new ByteReader(socket);
  try {
    const target = await negotiate(front, socket, reader);
    reader.release();
    if (target === undefined) {
      return;
    }
    const { host, port } = target;
    // The answer is the server's to wait for; the tunnel sets its own limit.
    socket.setTimeout(0);
    const connection = await front.open(host, port, { protocol: 'socks' });
    if (!connection.ok) {
      endGently(socket, reply(replyTo(connection.error)));
      return;
    }
    socket.write(reply(replies.granted));
    await joinSockets(socket, connection.value.socket, (name) => front.admitsServerName(name, host, port));
  } catch (error) {
    if (!(error instanceof ConnectionEnded)) {
      throw error;
    }
    socket.destroy();
  }
}

async function negotiate(
  front: Front,
  socket: Socket,
  reader: ByteReader,
): Promise<{ host: Host; port: number } | undefined> {
  const [, methodCount = 0] = await reader.take(2);
  const methods = await reader.take(methodCount);
  if (!methods.includes(noAuthentication)) {
    front.noteMalformed('a SOCKS5 client that insists on logging in');
    endGently(socket, Buffer.from([socksVersion, noAcceptableMethod]));
    return undefined;
  }
  socket.write(Buffer.from([socksVersion, noAuthentication]));
  const [version, command, , type] = await reader.take(4);
  if (version !== socksVersion || command !== connectCommand) {
    front.noteMalformed('a SOCKS5 request for UDP, or to be connected to');
    endGently(socket, reply(replies.commandNotSupported));
    return undefined;
  }
  const text = await takeHost(reader, type);
  if (text === undefined) {
    endGently(socket, reply(replies.addressTypeNotSupported));
    return undefined;
  }
  const port = (await reader.take(2)).readUInt16BE();
  const host = parseHost(text);
  if (host === undefined || port === 0) {
    front.noteMalformed('a SOCKS5 request for what is not a host');
    endGently(socket, reply(replies.notAllowed));
    return undefined;
  }
  return { host, port };
}

async function takeHost(reader: ByteReader, type: number | undefined): Promise<string | undefined> {
  switch (type) {
    case addressTypes.ipv4:
      return [...(await reader.take(4))].join('.');
    case addressTypes.ipv6:
      return groupsText(await reader.take(16));
    case addressTypes.name:
      return (await reader.take((await reader.take(1)).readUInt8())).toString('latin1');
    case undefined:
    default:
      return undefined;
  }
}

function groupsText(bytes: Buffer): string {
  return Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(2 * index).toString(16)).join(':');
}

function replyTo({ reason, code }: Refusal): number {
  if (reason !== undefined) {
    return replies.notAllowed;
  }
  switch (code) {
    case 'ECONNREFUSED':
      return replies.connectionRefused;
    case 'ENOTFOUND':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
      return replies.hostUnreachable;
    case undefined:
    default:
      return replies.failure;
  }
}

/** With an address that says nothing: the one that the machine uses is nobody's business. */
function reply(code: number): Buffer {
  return Buffer.from([socksVersion, code, 0, addressTypes.ipv4, 0, 0, 0, 0, 0, 0]);
}
