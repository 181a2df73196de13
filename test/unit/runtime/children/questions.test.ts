import assert from 'node:assert/strict';
import type { Answer } from '../../../../src/runtime/approvals/approval.ts';
import { mostQuestions, Questions } from '../../../../src/runtime/children/questions.ts';

const yes: Answer = { kind: 'allow', widenings: [], lasts: 'once' };
const no: Answer = { kind: 'deny', by: 'person' };
const alive = new AbortController().signal;

describe('the questions of a script', () => {
  it('come one after the other', async () => {
    const questions = new Questions();
    const first = Promise.withResolvers<Answer>();
    const order: string[] = [];
    const asked = [
      questions.ask('a', () => (order.push('a'), first.promise), alive),
      questions.ask('b', async () => (order.push('b'), yes), alive),
    ];
    await new Promise(setImmediate);
    assert.deepEqual(order, ['a']);
    first.resolve(no);
    assert.deepEqual(await Promise.all(asked), [no, yes]);
    assert.deepEqual(order, ['a', 'b']);
  });

  it('are one when they are the same, and go on when one of two has gone', async () => {
    const questions = new Questions();
    const answer = Promise.withResolvers<Answer>();
    let count = 0;
    let end: AbortSignal | undefined;
    const ask = (signal: AbortSignal): Promise<Answer> => {
      count++;
      end = signal;
      return answer.promise;
    };
    const gone = new AbortController();
    const asked = [questions.ask('a', ask, gone.signal), questions.ask('a', ask, alive)];
    await new Promise(setImmediate);
    gone.abort();
    assert.equal(end?.aborted, false);
    answer.resolve(yes);
    assert.deepEqual(await Promise.all(asked), [yes, yes]);
    assert.equal(count, 1);
  });

  it('end when nobody waits for the answer', async () => {
    const questions = new Questions();
    const gone = new AbortController();
    const asked = questions.ask(
      'a',
      (signal) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => resolve({ kind: 'deny', by: 'gone' })),
        ),
      gone.signal,
    );
    await new Promise(setImmediate);
    gone.abort();
    assert.deepEqual(await asked, { kind: 'deny', by: 'gone' });
    assert.deepEqual(await questions.ask('a', async () => yes, alive), yes);
  });

  it('are not asked again after a no, but after anything else', async () => {
    const questions = new Questions();
    let count = 0;
    const ask = (answer: Answer) => async (): Promise<Answer> => (count++, answer);
    for (const answer of [yes, { kind: 'deny', by: 'expired' }, no, yes, yes] as const) {
      await questions.ask('a', ask(answer), alive);
    }
    assert.equal(count, 3);
    assert.deepEqual(await questions.ask('a', ask(yes), alive), no);
  });

  it('have a limit, and a failure is the end of none but itself', async () => {
    const questions = new Questions();
    await assert.rejects(questions.ask('failing', () => Promise.reject(new Error('no')), alive));
    for (let count = 1; count < mostQuestions; count++) {
      assert.equal(await questions.ask(String(count), async () => yes, alive), yes);
    }
    assert.equal(await questions.ask('another', async () => yes, alive), 'too-many');
  });
});
