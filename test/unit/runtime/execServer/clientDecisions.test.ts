import assert from 'node:assert/strict';
import { silentLog } from '../../../../src/base/log.ts';
import { Questions } from '../../../../src/runtime/execServer/server/questions.ts';
import type { ServedConnection } from '../../../../src/runtime/execServer/server/service.ts';
import { clientDecisions } from '../../../../src/runtime/execServer/services/managedNetwork/clientDecisions.ts';

const request = { host: { name: 'a.test' }, port: 80, protocol: 'http' } as const;

interface Sent {
  readonly id?: number;
}

describe('Decisions of a client about hosts', () => {
  let sent: Sent[];
  let closing: AbortController;
  let questions: Questions;
  let client: ServedConnection;
  beforeEach(() => {
    sent = [];
    closing = new AbortController();
    questions = new Questions((message) => sent.push(message), closing.signal);
    client = {
      log: silentLog,
      closed: closing.signal,
      isWritable: true,
      whenWritable: () => Promise.resolve(),
      notify: (method, params) => void sent.push({ method, params } as Sent),
      ask: (method, params, signal) => questions.ask(method, params, signal),
    };
  });

  const decisions = (current: () => ServedConnection | undefined, timeoutMs = 60_000) =>
    clientDecisions({ processId: 'p', client: current, review: [], asksAboutUnknown: true, timeoutMs });
  const yes = (id: number) =>
    questions.take({ kind: 'response', id, result: { decision: { type: 'allow' } } });

  it('are a no without a client', async () => {
    assert.equal(await decisions(() => undefined).decide?.(request), 'deny');
  });

  it('are a no when the connection ends', async () => {
    const answer = decisions(() => client).decide?.(request);
    assert.equal(sent.length, 1);
    closing.abort();
    assert.equal(await answer, 'deny');
    assert.equal(await decisions(() => client).decide?.(request), 'deny');
    assert.equal(sent.length, 1);
  });

  it('are each for their own question', async () => {
    const { decide } = decisions(() => client);
    const [first, second] = [decide?.(request), decide?.({ ...request, host: { name: 'b.test' } })];
    assert.ok(yes(2));
    questions.take({ kind: 'error', id: 1, error: { code: -32_601, message: 'no' } });
    assert.deepEqual(await Promise.all([first, second]), ['deny', 'allow']);
    assert.ok(yes(1), 'a second answer counted as one that nobody asked for');
    assert.ok(!yes(3));
    assert.ok(!questions.take({ kind: 'response', id: '1', result: {} }));
    assert.ok(!yes(0));
  });

  it('are a no for more questions than a client that answers has', async () => {
    const { decide } = decisions(() => client);
    const waiting = Array.from({ length: 256 }, async () => decide?.(request));
    assert.equal(await decide?.(request), 'deny');
    assert.equal(sent.length, 256);
    sent.forEach(({ id = 0 }) => yes(id));
    assert.deepEqual(new Set(await Promise.all(waiting)), new Set(['allow']));
    const later = decide?.(request);
    yes(257);
    assert.equal(await later, 'allow');
  });
});
