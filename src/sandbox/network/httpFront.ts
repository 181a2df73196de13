import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { ClientRequest, createServer } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import type { Asked, Connection, Front } from './front.ts';
import { endToEnd, valuesOf } from './headers.ts';
import type { Host } from './host.ts';
import { formatPlace, parseHost } from './host.ts';
import type { Refusal } from './refusal.ts';
import { malformed } from './refusal.ts';
import { endGently, joinSockets } from './tunnel.ts';

/** A response may take its time: a test server that compiles first. */
const idleMs = 10 * 60_000;
const longestHeaders = 64 * 1024;

/** The HTTP side: CONNECT, requests with a whole address, and their upgrades. Takes connections, listens nowhere. */
export function createHttpFront(front: Front): Server {
  const server = createServer({ maxHeaderSize: longestHeaders, keepAliveTimeout: 60_000 });
  server.setTimeout(idleMs);
  server.on('connect', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    void connect(front, request, socket as Socket, head);
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    void forward(front, request, response);
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    void upgrade(front, request, socket as Socket, head);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const refusal = malformed(`this is no HTTP request (${error.code ?? error.message})`);
    front.noteMalformed(refusal.message);
    endGently(socket as Socket, refusalText(refusal));
  });
  return server;
}

async function connect(front: Front, request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
  // Until the tunnel takes over, nobody else listens for them.
  socket.on('error', () => socket.destroy());
  const place = parsePlace(request.url ?? '');
  if (place === undefined) {
    const refusal = malformed(`CONNECT ${printable(request.url)} names no host and port`);
    front.noteMalformed(refusal.message);
    endGently(socket, refusalText(refusal));
    return;
  }
  const { host, port } = place;
  const connection = await front.open(host, port, { protocol: 'connect', method: 'CONNECT' });
  if (!connection.ok) {
    endGently(socket, refusalText(connection.error));
    return;
  }
  if (head.length > 0) {
    socket.unshift(head);
  }
  socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
  await joinSockets(socket, connection.value.socket, (name) => front.admitsServerName(name, host, port));
}

async function forward(front: Front, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const target = parseTarget(request);
  if (!target.ok) {
    front.noteMalformed(target.error.message);
    sendRefusal(response, target.error);
    return;
  }
  const connection = await front.open(target.value.host, target.value.port, askedBy(request));
  if (!connection.ok) {
    sendRefusal(response, connection.error);
    return;
  }
  if (response.destroyed) {
    connection.value.socket.destroy();
    return;
  }
  const outgoing = requestTo(target.value, request, connection.value, []);
  outgoing.on('response', (incoming) => relay(incoming, response));
  outgoing.on('error', (error: NodeJS.ErrnoException) => {
    if (response.headersSent) {
      // Whoever got a part must see that it is not the whole.
      response.destroy();
      return;
    }
    sendRefusal(response, brokenOff(target.value, error));
  });
  response.on('close', () => {
    if (!response.writableFinished) {
      outgoing.destroy();
    }
  });
  if (hasBody(request)) {
    request.pipe(outgoing);
  } else {
    outgoing.end();
  }
}

function relay(incoming: IncomingMessage, response: ServerResponse): void {
  response.writeHead(incoming.statusCode ?? 502, incoming.statusMessage, endToEnd(incoming.rawHeaders));
  incoming.on('error', () => response.destroy());
  incoming.on('aborted', () => response.destroy());
  incoming.pipe(response);
}

/** WebSocket and its like without TLS: the request goes on with its upgrade, and after the answer it is a tunnel. */
async function upgrade(front: Front, request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
  socket.on('error', () => socket.destroy());
  const target = hasBody(request) ? fail(malformed('a request to upgrade has a body')) : parseTarget(request);
  if (!target.ok) {
    front.noteMalformed(target.error.message);
    endGently(socket, refusalText(target.error));
    return;
  }
  const connection = await front.open(target.value.host, target.value.port, {
    ...askedBy(request),
    isUpgrade: true,
  });
  if (!connection.ok) {
    endGently(socket, refusalText(connection.error));
    return;
  }
  if (socket.destroyed) {
    connection.value.socket.destroy();
    return;
  }
  const protocol = request.headers.upgrade ?? '';
  const outgoing = requestTo(target.value, request, connection.value, [
    ...['Connection', 'Upgrade'],
    ...['Upgrade', protocol],
  ]);
  outgoing.on('error', (error) => endGently(socket, refusalText(brokenOff(target.value, error))));
  outgoing.on('upgrade', (answer, remote: Duplex, first: Buffer) => {
    socket.write(headText(answer, ['Connection', 'Upgrade', 'Upgrade', answer.headers.upgrade ?? protocol]));
    for (const [stream, bytes] of [
      [remote, first],
      [socket, head],
    ] as const) {
      if (bytes.length > 0) {
        stream.unshift(bytes);
      }
    }
    const { host, port } = target.value;
    void joinSockets(socket, remote as Socket, (name) => front.admitsServerName(name, host, port));
  });
  outgoing.on('response', (answer) => {
    // The server did not want to. Its answer ends with the connection, whatever its framing was.
    socket.write(headText(answer, ['Connection', 'close']));
    answer.pipe(socket);
  });
  socket.once('close', () => outgoing.destroy());
  outgoing.end();
}

interface Target {
  readonly host: Host;
  readonly port: number;
  /** With the query. */
  readonly path: string;
}

/** Where a request with a whole address goes; its Host header must say the same. */
function parseTarget(request: IncomingMessage): Result<Target, Refusal> {
  const [, scheme, authority = '', path = ''] =
    /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)([^#]*)$/i.exec(request.url ?? '') ?? [];
  if (scheme?.toLowerCase() !== 'http') {
    return fail(
      malformed(`${request.method ?? ''} ${printable(request.url)} has no address that begins with http://`),
    );
  }
  const place = parsePlace(authority, 80);
  if (place === undefined) {
    return fail(malformed(`${printable(authority)} is not a host`));
  }
  const named = valuesOf(request.rawHeaders, 'host');
  const header = parsePlace(named[0] ?? authority, 80);
  if (named.length > 1 || header?.host.name !== place.host.name || header.port !== place.port) {
    return fail(
      malformed(`a request to ${formatPlace(place.host, place.port)} has another host in its header`),
    );
  }
  return ok({ ...place, path: path.startsWith('/') ? path : `/${path}` });
}

/** `host:port`; brackets around IPv6. User names and passwords in front are no part of a place. */
function parsePlace(text: string, defaultPort?: number): { host: Host; port: number } | undefined {
  const [, name = '', digits] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = parseHost(name);
  const port = digits === undefined ? defaultPort : Number(digits);
  return host === undefined || port === undefined || port < 1 || port > 65_535 ? undefined : { host, port };
}

/** Says its name once, has no framing but its own, and ends with its connection. */
function requestTo(
  { host, port, path }: Target,
  request: IncomingMessage,
  { socket, upstream }: Connection,
  extra: readonly string[],
): ClientRequest {
  const place = port === 80 ? formatPlace(host, port).replace(/:80$/, '') : formatPlace(host, port);
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  return new ClientRequest({
    method: request.method,
    path: upstream === undefined ? path : `http://${place}${path}`,
    headers: [
      ...['Host', place],
      ...endToEnd(request.rawHeaders, 'host'),
      ...(isChunked ? ['Transfer-Encoding', 'chunked'] : []),
      ...(upstream?.authorization === undefined ? [] : ['Proxy-Authorization', upstream.authorization]),
      ...(extra.length > 0 ? extra : ['Connection', 'close']),
    ],
    maxHeaderSize: longestHeaders,
    createConnection: () => socket,
  });
}

function askedBy({ method }: IncomingMessage): Asked {
  return { protocol: 'http', ...(method !== undefined && { method }) };
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function brokenOff({ host, port }: Target, error: NodeJS.ErrnoException): Refusal {
  return {
    message: `${formatPlace(host, port)} broke off (${error.code ?? 'no answer'})`,
    hint: 'The folder allows this host; the connection to it failed.',
  };
}

function sendRefusal(response: ServerResponse, refusal: Refusal): void {
  if (response.destroyed) {
    return;
  }
  response.writeHead(statusOf(refusal), `cordon: ${refusal.message}`, headersOf(refusal));
  response.end(bodyOf(refusal));
}

/** The same as bytes, for a connection that is not in the parser's hands any more. */
function refusalText(refusal: Refusal): string {
  const status = `HTTP/1.1 ${statusOf(refusal)} cordon: ${refusal.message}`;
  return `${status}\r\n${headerLines(headersOf(refusal))}\r\n${bodyOf(refusal)}`;
}

function headText(
  { statusCode, statusMessage, rawHeaders }: IncomingMessage,
  extra: readonly string[],
): string {
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${headerLines([...endToEnd(rawHeaders), ...extra])}\r\n`;
}

function headerLines(headers: readonly string[]): string {
  return headers.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
}

function statusOf({ reason }: Refusal): number {
  return reason === undefined ? 502 : reason === 'malformed' ? 400 : 403;
}

function headersOf(refusal: Refusal): string[] {
  return [
    ...['Content-Type', 'text/plain; charset=utf-8'],
    ...['Content-Length', String(Buffer.byteLength(bodyOf(refusal)))],
    ...(refusal.reason === undefined ? [] : ['x-cordon-blocked', refusal.reason]),
    ...['Connection', 'close'],
  ];
}

function bodyOf({ message, hint }: Refusal): string {
  return `cordon: ${message}.\n${hint}\n`;
}

/** A request's own words in a status line: short, and without what would end the line. */
function printable(text: string | undefined): string {
  return (text ?? '').replaceAll(/[^\u0021-\u007e]/g, '?').slice(0, 200);
}
