import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { silentLog } from '../../../../src/base/log.ts';
import { Emitter } from '../../../../src/base/event.ts';
import { Connection } from '../../../../src/runtime/execServer/server/connection.ts';
import type { MessageTransport } from '../../../../src/runtime/execServer/transport/messageTransport.ts';

const mebibyte = 1024 * 1024;

describe('What a connection reads', () => {
  /** Of a client that sends as much as it may. */
  function connected(): {
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
});
