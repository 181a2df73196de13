import assert from 'node:assert/strict';
import type { SleepItem } from '../../src/runtime/tools/sleep.ts';
import type { TestRuntime } from '../harness/testRuntime.ts';
import { createTestRuntime } from '../harness/testRuntime.ts';

describe('sleep', () => {
  let it_: TestRuntime;
  const items: SleepItem[] = [];
  before(async () => {
    it_ = await createTestRuntime();
    it_.runtime.sleeps.onItem((item) => items.push(item));
  });
  beforeEach(() => void items.splice(0));
  after(() => it_.dispose());

  it('tells the time that really passed, between a started and a completed item', async () => {
    const { text } = await it_.call('sleep', { duration_ms: 120 });
    const [, seconds] = /^Wall time: (\d+\.\d{4}) seconds\nSleep completed\.$/.exec(text) ?? [];
    assert.ok(Number(seconds) >= 0.119);
    assert.deepEqual(
      items.map(({ kind }) => kind),
      ['started', 'completed'],
    );
  });

  it('is interrupted by new input for the turn', async () => {
    const sleeping = it_.call('sleep', { duration_ms: 3_600_000 });
    it_.runtime.sleeps.interruptAll();
    assert.match((await sleeping).text, /Sleep interrupted by new input\.$/);
    assert.equal(it_.runtime.sleeps.count, 0);
  });

  it('ends when the caller gives up, also when it gave up before', async () => {
    const abort = new AbortController();
    abort.abort();
    assert.match(
      (await it_.call('sleep', { duration_ms: 60_000 }, { signal: abort.signal })).text,
      /interrupted/,
    );
  });

  it('takes 1 ms to 1 hour', async () => {
    for (const duration_ms of [0, 3_600_001, 1.5, '5']) {
      const result = await it_.call('sleep', { duration_ms });
      assert.ok(result.isError && result.text.includes('duration_ms'), result.text);
    }
  });
});
