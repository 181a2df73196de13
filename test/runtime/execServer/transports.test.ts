import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { linesTransport } from '../../../src/runtime/execServer/transport/lines.ts';
import type { MessageTransport } from '../../../src/runtime/execServer/transport/messageTransport.ts';
import { webSocketTransport } from '../../../src/runtime/execServer/transport/webSocket.ts';

interface Ends {
  readonly near: MessageTransport;
  readonly far: MessageTransport;
  dispose(): void;
}

async function webSockets(): Promise<Ends> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
  await once(server, 'listening');
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    perMessageDeflate: false,
  });
  const [[accepted]] = (await Promise.all([once(server, 'connection'), once(client, 'open')])) as [
    [WebSocket],
    unknown,
  ];
  return {
    near: webSocketTransport(accepted, 'near'),
    far: webSocketTransport(client, 'far'),
    dispose: () => server.close(),
  };
}

async function lines(): Promise<Ends> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [[accepted]] = (await Promise.all([once(server, 'connection'), once(client, 'connect')])) as [
    [Socket],
    unknown,
  ];
  return {
    near: linesTransport(accepted, accepted, 'near'),
    far: linesTransport(client, client, 'far'),
    dispose: () => server.close(),
  };
}

for (const [name, open] of [
  ['WebSocket', webSockets],
  ['lines', lines],
] as const) {
  describe(`messages as bytes over a transport: ${name}`, () => {
    let ends: Ends;
    beforeEach(async () => {
      ends = await open();
    });
    afterEach(() => {
      ends.near.close();
      ends.far.close();
      ends.dispose();
    });

    it('arrive in order as the same text, and their memory is free when it is said to be', async () => {
      const { near, far } = ends;
      const count = 400;
      const sent: string[] = [];
      let taken = 0;
      for (let number = 0; number < count; number++) {
        const text = `é ${number} ${'x'.repeat(60_000)}`;
        sent.push(text);
        const bytes = Buffer.from(text);
        near.send(number % 3 === 0 ? text : bytes, () => {
          taken++;
          bytes.fill('?');
        });
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
      assert.ok(taken < count, 'nobody reads, so not all can have been taken');
      const received: string[] = [];
      const all = Promise.withResolvers<void>();
      far.onMessage((text) => received.push(text) === count && all.resolve());
      far.resume();
      await all.promise;
      assert.deepEqual(received, sent);
      assert.equal(taken, count);
    });

    it('are not said to be taken when the connection ends first', async () => {
      const { near } = ends;
      let taken = 0;
      for (let number = 0; number < 400; number++) {
        near.send(Buffer.alloc(60_000, 'x'), () => taken++);
      }
      near.close();
      await new Promise((resolve) => setImmediate(resolve));
      const early = taken;
      await new Promise((resolve) => setTimeout(resolve, 50));
      assert.equal(taken, early);
      assert.ok(taken < 400, `${taken}`);
    });
  });
}
