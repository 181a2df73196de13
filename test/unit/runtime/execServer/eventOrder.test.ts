import assert from 'node:assert/strict';
import { EventOrder } from '../../../../src/runtime/execServer/client/eventOrder.ts';
import type {
  FetchedEvents,
  OrderedEvent,
  WireEvent,
} from '../../../../src/runtime/execServer/client/eventOrder.ts';
import { Random } from '../../../harness/random.ts';

const output = (seq: number, bytes = 1): Extract<WireEvent, { kind: 'output' }> => ({
  kind: 'output',
  seq,
  stream: 'stdout',
  chunk: Buffer.alloc(bytes, seq),
});
const exited = (seq: number): WireEvent => ({ kind: 'exited', seq, exitCode: 0, sandboxDenied: false });
const closed = (seq: number): WireEvent => ({ kind: 'closed', seq });
const exit = { exitCode: 0, sandboxDenied: false };

function fetched(
  seqs: readonly number[],
  nextSeq: number,
  rest: Partial<FetchedEvents> = {},
  bytes = 1,
): FetchedEvents {
  return { chunks: seqs.map((seq) => output(seq, bytes)), nextSeq, ...rest };
}

describe('EventOrder', () => {
  let order: EventOrder;
  let told: string[];
  beforeEach(() => {
    told = [];
    order = new EventOrder((event) => told.push(wordOf(event)));
  });

  it('delivers events by their numbers, each once, in whatever order they come', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const random = new Random(seed);
      const events = [...Array.from({ length: 30 }, (_, index) => output(index + 1)), exited(31), closed(32)];
      const arriving = [...events, ...events.slice(0, 10)]
        .map((event) => ({ event, at: event.seq + random.integer(0, 11) }))
        .sort((a, b) => a.at - b.at);
      told = [];
      order = new EventOrder((event) => told.push(wordOf(event)));
      arriving.forEach(({ event }) => order.push(event));
      assert.deepEqual(told, events.map(wordOf));
      assert.ok(!order.isWaiting);
    }
  });

  it('joins what was fetched with what was pushed', () => {
    [1, 2, 5].forEach((seq) => order.push(output(seq)));
    assert.ok(order.merge(fetched([3, 4, 5, 6], 7)));
    order.push(output(6));
    order.push(output(7));
    assert.deepEqual(told, ['1', '2', '3', '4', '5', '6', '7']);
  });

  it('finds the numbers of an exit and an end that were never pushed', () => {
    order.push(output(1));
    assert.ok(order.merge(fetched([2], 5, { exit, closed: {} })));
    assert.deepEqual(told, ['1', '2', 'exited 3', 'closed 4']);
    order.push(exited(3));
    order.push(closed(4));
    assert.equal(told.length, 4);
  });

  it('finds an exit between two pieces of output', () => {
    assert.ok(order.merge(fetched([1, 2, 4, 5], 6, { exit })));
    assert.deepEqual(told, ['1', '2', 'exited 3', '4', '5']);
  });

  it('says what is no longer kept, and delivers the rest', () => {
    order.push(output(1));
    assert.ok(order.merge(fetched([50, 51], 54, { exit, closed: {} }, 300_000)));
    assert.deepEqual(told, ['1', 'gap 2-49', '50', '51', 'exited 52', 'closed 53']);
  });

  it('waits for what a server should still have, and gives it up when it is told to', () => {
    order.push(output(1));
    order.push(output(4));
    assert.ok(!order.merge(fetched([4], 5)));
    assert.deepEqual(told, ['1']);
    order.push(output(3));
    assert.ok(!order.merge(fetched([4], 5)));
    assert.ok(order.merge(fetched([4], 5), true));
    assert.deepEqual(told, ['1', 'gap 2-2', '3', '4']);
  });

  it('does not take a missing piece of output for the exit', () => {
    order.push(output(1));
    assert.ok(!order.merge(fetched([3], 5, { exit })));
    order.push(output(2));
    order.push(exited(4));
    assert.deepEqual(told, ['1', '2', '3', 'exited 4']);
  });

  it('holds so much and no more when a number never comes', () => {
    order.push(output(1));
    for (let seq = 3; seq < 20_000; seq++) {
      order.push(output(seq));
    }
    assert.deepEqual(told.slice(0, 3), ['1', 'gap 2-2', '3']);
    assert.equal(told.at(-1), '19999');
    assert.ok(!told.slice(0, 4_000).includes('4097') || told.indexOf('4097') > 2);
  });

  it('bounds the bytes that wait as well', () => {
    for (let seq = 2; seq < 20; seq++) {
      order.push(output(seq, 1024 * 1024));
    }
    assert.equal(told[0], 'gap 1-1');
  });
});

function wordOf(event: OrderedEvent): string {
  switch (event.kind) {
    case 'output':
      return String(event.seq);
    case 'gap':
      return `gap ${event.fromSeq}-${event.seq}`;
    case 'exited':
    case 'closed':
      return `${event.kind} ${event.seq}`;
  }
}
