import assert from 'node:assert/strict';
import { Lanes } from '../../../../src/runtime/execServer/server/lanes.ts';
import type { LaneMode } from '../../../../src/runtime/execServer/server/lanes.ts';
import { orderingOf } from '../../../../src/runtime/execServer/server/ordering.ts';

describe('Lanes', () => {
  const one = (mode: LaneMode, lane = 'a') => [{ lane, mode }];

  it('let shared ones in together, and exclusive ones alone, in order', async () => {
    const lanes = new Lanes();
    const log: string[] = [];
    const enter = (name: string, mode: LaneMode) => {
      const passage = lanes.enter(one(mode));
      if (passage.ready === undefined) log.push(name);
      else void passage.ready.then(() => log.push(name));
      return passage;
    };
    const first = enter('shared 1', 'shared');
    const second = enter('shared 2', 'shared');
    const third = enter('exclusive', 'exclusive');
    const fourth = enter('shared 3', 'shared');
    enter('passing', 'passing');
    assert.deepEqual(log, ['shared 1', 'shared 2']);
    first.leave();
    await tick();
    assert.equal(log.length, 2);
    second.leave();
    await tick();
    assert.deepEqual(log.slice(2), ['exclusive']);
    third.leave();
    await tick();
    assert.deepEqual(log.slice(3), ['shared 3', 'passing']);
    fourth.leave();
    assert.equal(lanes.enter(one('exclusive')).ready, undefined);
  });

  it('do not let passing ones hold anybody back', () => {
    const lanes = new Lanes();
    lanes.enter(one('passing'));
    assert.equal(lanes.enter(one('exclusive')).ready, undefined);
  });

  it('do not know each other', () => {
    const lanes = new Lanes();
    lanes.enter(one('exclusive'));
    assert.equal(lanes.enter(one('exclusive', 'b')).ready, undefined);
    assert.notEqual(lanes.enter([...one('exclusive', 'c'), ...one('exclusive')]).ready, undefined);
    assert.notEqual(lanes.enter(one('shared', 'c')).ready, undefined);
  });
});

describe('The order of requests', () => {
  const waits = (earlier: Parameters<typeof orderingOf>, later: Parameters<typeof orderingOf>): boolean => {
    const lanes = new Lanes();
    lanes.enter(orderingOf(...earlier).lanes);
    return lanes.enter(orderingOf(...later).lanes).ready !== undefined;
  };
  const p = { processId: 'p' };
  const q = { processId: 'q' };
  const h = { handleId: 'h' };

  it('is kept for a process, and for nothing else than its start by what must not wait', () => {
    for (const method of ['process/write', 'process/read', 'process/terminate', 'process/start'] as const) {
      assert.ok(waits(['process/start', p], [method, p]), method);
      assert.ok(!waits(['process/start', p], [method, q]), method);
      assert.ok(!waits(['process/read', p], [method, p]), method);
    }
    assert.ok(waits(['process/write', p], ['process/write', p]));
    assert.ok(waits(['process/write', p], ['cordon/process/endInput', p]));
    assert.ok(!waits(['process/write', p], ['process/terminate', p]));
    assert.ok(!waits(['process/write', p], ['process/read', p]));
  });

  it('is kept for handles, and for what changes files', () => {
    assert.ok(waits(['fs/readBlock', h], ['fs/close', h]));
    assert.ok(!waits(['fs/walk', {}], ['fs/close', h]));
    assert.ok(waits(['fs/writeFile', {}], ['fs/readFile', {}]));
    assert.ok(waits(['fs/readFile', {}], ['fs/remove', {}]));
    assert.ok(waits(['fs/open', { ...h, mode: 'replace' }], ['fs/getMetadata', {}]));
    assert.ok(!waits(['fs/open', { ...h, mode: 'read' }], ['fs/getMetadata', {}]));
    assert.ok(!waits(['fs/readFile', {}], ['fs/readFile', {}]));
    assert.ok(!waits(['fs/writeFile', {}], ['http/request', {}]));
  });

  it('lets only work be counted, apart where it may wait for memory or another machine', () => {
    const counted = (['process/start', 'fs/walk', 'http/request', 'fs/readFile', 'fs/copy'] as const).map(
      (method) => orderingOf(method, {}).slot,
    );
    assert.deepEqual(counted, ['work', 'listings', 'http', 'whole files', 'work']);
    const free = (
      ['process/read', 'process/write', 'process/terminate', 'environment/status', 'fs/close'] as const
    ).map((method) => orderingOf(method, {}).slot);
    assert.ok(free.every((slot) => slot === undefined));
  });
});

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
