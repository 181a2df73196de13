import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { webSocketTransport } from '../../transport/webSocket.ts';
import type { Authentication } from './authentication.ts';
import type { Accept, Listener } from './listener.ts';
import { maxMessageBytes } from './listener.ts';

export interface WebSocketListenOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Absent: everybody who reaches the port is let in. */
  readonly authenticate?: Authentication;
  readonly pingMs?: number;
}

const maxFrameBytes = 16 * 1024 * 1024;
const maxConnections = 1024;

interface Refusal {
  readonly status: string;
  readonly text?: string;
}

/** Serves WebSockets on `/`, and on `/readyz` whether it does. Rejects when the address cannot be had. */
export async function listenWebSocket(options: WebSocketListenOptions, accept: Accept): Promise<Listener> {
  const { authenticate, pingMs } = options;
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
    handleProtocols: () => false,
    clientTracking: false,
  });
  const server = createServer({ keepAlive: true, noDelay: true }, (request, response) => {
    const { status, text = '' } = answerTo(request);
    response.writeHead(Number(status.slice(0, 3)), {
      'Content-Length': Buffer.byteLength(text),
      Connection: 'close',
    });
    response.end(text);
  });
  server.maxConnections = maxConnections;
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    const refusal = whyNotUpgraded(request, authenticate);
    if (refusal !== undefined) {
      refuse(socket, refusal);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const { remoteAddress = '', remotePort = 0 } = request.socket;
      const name = `exec-server websocket ${hostText(remoteAddress)}:${remotePort}`;
      accept(webSocketTransport(webSocket, name, { ...(pingMs !== undefined && { pingMs }), maxFrameBytes }));
    });
  });
  await listen(server, options);
  const { address, port } = server.address() as AddressInfo;
  const ended = new Promise<void>((resolve) => server.once('close', resolve));
  return {
    address: `ws://${hostText(address)}:${port}`,
    ended,
    close: async () => {
      server.close();
      server.closeIdleConnections();
    },
  };
}

function answerTo(request: IncomingMessage): Refusal {
  if (request.headers.origin !== undefined) {
    return originRefused;
  }
  switch (pathOf(request)) {
    case '/readyz':
      return { status: request.method === 'GET' ? '200 OK' : '405 Method Not Allowed' };
    case '/':
      return { status: '400 Bad Request', text: 'a WebSocket upgrade is expected here' };
    default:
      return { status: '404 Not Found' };
  }
}

/** Whatever page a browser shows must not reach the server, and a browser always names the page. */
const originRefused: Refusal = { status: '403 Forbidden', text: 'requests with an Origin are refused' };

function whyNotUpgraded(
  request: IncomingMessage,
  authenticate: Authentication | undefined,
): Refusal | undefined {
  if (request.headers.origin !== undefined) {
    return originRefused;
  }
  if (pathOf(request) !== '/') {
    return { status: '404 Not Found' };
  }
  if (request.method !== 'GET' || request.headers['sec-websocket-version'] !== '13') {
    return { status: '400 Bad Request', text: 'Sec-WebSocket-Version must be 13' };
  }
  const text = authenticate?.(request.headers.authorization);
  return text === undefined ? undefined : { status: '401 Unauthorized', text };
}

function refuse(socket: Duplex, { status, text = '' }: Refusal): void {
  const head = [
    `HTTP/1.1 ${status}`,
    'Connection: close',
    'Content-Type: text/plain',
    `Content-Length: ${Buffer.byteLength(text)}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`, () => socket.destroy());
}

function pathOf({ url = '/' }: IncomingMessage): string {
  return url.split('?', 1)[0] as string;
}

function hostText(address: string): string {
  return address.includes(':') ? `[${address}]` : address;
}

async function listen(server: Server, { host, port }: WebSocketListenOptions): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
