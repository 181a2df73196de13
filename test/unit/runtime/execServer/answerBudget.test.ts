import assert from 'node:assert/strict';
import { AnswerBudget } from '../../../../src/runtime/execServer/server/answerBudget.ts';

describe('The budget for large answers', () => {
  const never = new AbortController().signal;

  it('is never exceeded, goes by arrival, and is all of it for what is larger', async () => {
    const budget = new AnswerBudget(10);
    const log: string[] = [];
    const take = async (name: string, bytes: number) => {
      const held = await budget.take(bytes, never);
      log.push(name);
      return held;
    };
    const first = await take('first', 6);
    const large = take('large', 99);
    const small = take('small', 1);
    await tick();
    assert.deepEqual(log, ['first']);
    first.dispose();
    first.dispose();
    const all = await large;
    await tick();
    assert.deepEqual(log, ['first', 'large']);
    all.dispose();
    (await small).dispose();
    assert.deepEqual(log, ['first', 'large', 'small']);
  });

  it('is not waited for by who is gone, and keeps nobody waiting for them', async () => {
    const budget = new AnswerBudget(10);
    const held = await budget.take(6, never);
    const gone = new AbortController();
    const large = budget.take(10, gone.signal);
    const small = budget.take(4, never);
    gone.abort();
    await assert.rejects(large, { name: 'AbortError' });
    (await small).dispose();
    held.dispose();
    (await budget.take(10, never)).dispose();
    await assert.rejects(budget.take(1, gone.signal), { name: 'AbortError' });
  });
});

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
