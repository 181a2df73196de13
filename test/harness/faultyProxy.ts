import { connect, createServer } from 'node:net';
import type { AddressInfo, NetConnectOpts, Socket } from 'node:net';
import { once } from 'node:events';
import { WebSocket, WebSocketServer } from 'ws';

/** A connection between client and server that misbehaves when it is told to. */
export interface FaultyProxy {
  /** Where it listens, as `host:port`. */
  readonly address: string;
  /** How many connections there were. */
  readonly connections: number;
  /** Cuts the connection after so many more bytes to the client. */
  cutAfter(bytes: number): void;
  /** New connections go there. */
  lead(target: NetConnectOpts): void;
  /** From now on nothing goes through the connections that are there, and nobody is told; new ones work. */
  freeze(): void;
  /** Ends what was frozen, as TCP does after a long time. */
  dropFrozen(): void;
  dispose(): Promise<void>;
}

/** Forwards bytes; `delayMs` holds each piece back in both directions, as distance does. */
export async function startFaultyProxy(first: NetConnectOpts, delayMs = 0): Promise<FaultyProxy> {
  let target = first;
  const pairs = new Set<Pair>();
  let budget = Infinity;
  let connections = 0;
  const server = createServer({ noDelay: true, allowHalfOpen: false }, (client) => {
    connections++;
    const pair: Pair = { client, server: connect({ ...target, noDelay: true }), isFrozen: false };
    pairs.add(pair);
    const end = (): void => {
      pairs.delete(pair);
      client.destroy();
      pair.server.destroy();
    };
    const forward = (from: Socket, to: Socket, count: (data: Buffer) => Buffer): void => {
      from.on('data', (data) => {
        if (pair.isFrozen) {
          return;
        }
        const rest = count(data);
        const send = (): void => {
          to.write(rest);
          if (rest.byteLength < data.byteLength) {
            to.end(end);
          }
        };
        if (delayMs > 0) {
          setTimeout(send, delayMs);
        } else {
          send();
        }
      });
      from.on('error', end);
      from.on('close', () => void (pair.isFrozen || setTimeout(end, delayMs)));
    };
    forward(client, pair.server, (data) => data);
    forward(pair.server, client, (data) => {
      const taken = data.subarray(0, budget);
      budget = taken.byteLength < data.byteLength ? Infinity : budget - taken.byteLength;
      return taken;
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    get connections() {
      return connections;
    },
    cutAfter: (bytes) => void (budget = bytes),
    lead: (next) => void (target = next),
    freeze: () => pairs.forEach((pair) => (pair.isFrozen = true)),
    dropFrozen: () =>
      pairs.forEach((pair) => {
        if (pair.isFrozen) {
          pair.client.destroy();
          pair.server.destroy();
        }
      }),
    async dispose() {
      pairs.forEach(({ client, server: other }) => {
        client.destroy();
        other.destroy();
      });
      server.close();
      await once(server, 'close');
    },
  };
}

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  isFrozen: boolean;
}

/** What becomes of a message to the client: the messages that are sent in its place, now. */
export type Meddler = (text: string) => readonly string[];

/** Forwards messages of a WebSocket, those to the client as the meddler of their connection wants. */
export async function startMeddlingProxy(
  url: string,
  createMeddler: () => Meddler,
): Promise<{ readonly url: string; dispose(): Promise<void> }> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
  server.on('connection', (client) => {
    const meddle = createMeddler();
    const other = new WebSocket(url, { perMessageDeflate: false, maxPayload: 0 });
    const early: string[] = [];
    client.on('message', (data: Buffer) => {
      const text = data.toString();
      if (other.readyState === other.OPEN) {
        other.send(text);
      } else {
        early.push(text);
      }
    });
    other.on('open', () => early.forEach((text) => other.send(text)));
    other.on('message', (data: Buffer) => meddle(data.toString()).forEach((text) => client.send(text)));
    other.on('error', () => client.terminate());
    other.on('close', () => client.terminate());
    client.on('close', () => other.terminate());
  });
  await once(server, 'listening');
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async dispose() {
      server.clients.forEach((client) => client.terminate());
      server.close();
      await once(server, 'close');
    },
  };
}
