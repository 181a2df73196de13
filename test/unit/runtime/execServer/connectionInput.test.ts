import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { silentLog } from '../../../../src/base/log.ts';
import { Emitter } from '../../../../src/base/event.ts';
import { Connection } from '../../../../src/runtime/execServer/server/connection.ts';
import { Inbound } from '../../../../src/runtime/execServer/server/inbound.ts';
import type { MessageTransport } from '../../../../src/runtime/execServer/transport/messageTransport.ts';

const mebibyte = 1024 * 1024;

describe('What a connection reads', () => {
  /** Of a client that sends as much as it may. */
  function connected(inbound = new Inbound(1024 * mebibyte)): {
    readonly send: (message: object) => void;
    readonly isPaused: () => boolean;
    readonly writes: (() => void)[];
  } {
    const messages = new Emitter<string>();
    const state = { isPaused: false };
    const transport: MessageTransport = {
      name: 'test',
      onMessage: messages.event,
      onClose: new Emitter<object>().event,
      onDrain: new Emitter<void>().event,
      bufferedBytes: 0,
      send: () => {},
      pause: () => (state.isPaused = true),
      resume: () => (state.isPaused = false),
      close: () => {},
    };
    const writes: (() => void)[] = [];
    new Connection(transport, {
      log: silentLog,
      concurrentRequests: 64,
      inbound,
      initialize: () => ({}),
      handlers: () => ({
        'fs/writeFile': () => new Promise((resolve) => writes.push(() => resolve({}))),
      }),
    });
    const send = (message: object): void => messages.fire(JSON.stringify(message));
    send({ id: 0, method: 'initialize', params: { clientName: 'test' } });
    send({ method: 'initialized' });
    return { send, isPaused: () => state.isPaused, writes };
  }

  it('is bounded in bytes, counted until the answer, and goes on when half of it is answered', async () => {
    const { send, isPaused, writes } = connected();
    const dataBase64 = 'A'.repeat(10 * mebibyte);
    let sent = 0;
    while (!isPaused() && sent < 100) {
      send({ id: ++sent, method: 'fs/writeFile', params: { path: 'file:///x', dataBase64 } });
    }
    assert.equal(sent, 7);
    for (let answered = 1; answered <= 3; answered++) {
      await turn();
      writes.shift()?.();
      await turn();
      assert.equal(isPaused(), true, `${answered}`);
    }
    await turn();
    writes.shift()?.();
    await turn();
    assert.equal(isPaused(), false);
  });

  it('is bounded over all clients, of whom those wait that have sent much', async () => {
    const inbound = new Inbound(100 * mebibyte);
    const clients = [1, 2, 3].map(() => connected(inbound));
    const write = (data: number) => ({
      method: 'fs/writeFile',
      params: { path: 'file:///x', dataBase64: 'A'.repeat(data) },
    });
    let sent = 0;
    while (clients.some(({ isPaused }) => !isPaused()) && sent < 100) {
      clients.forEach(({ send }) => send({ id: ++sent, ...write(10 * mebibyte) }));
    }
    assert.equal(sent, 12);
    const small = connected(inbound);
    small.send({ id: 1, ...write(1_000) });
    assert.equal(small.isPaused(), false);
    for (let answered = 0; answered < 8; answered++) {
      assert.ok(clients.every(({ isPaused }) => isPaused()));
      await turn();
      clients[answered % 3]?.writes.shift()?.();
      await turn();
    }
    assert.ok(clients.every(({ isPaused }) => !isPaused()));
  });
});
