import assert from 'node:assert/strict';
import { once } from '../../../src/base/once.ts';

describe('once()', () => {
  it('does it once for all, and again only after a failure', async () => {
    let count = 0;
    const next = once(async () => {
      count++;
      if (count === 1) {
        throw new Error('not yet');
      }
      return count;
    });
    for (const attempt of [next(), next()]) {
      await assert.rejects(attempt, /not yet/);
    }
    assert.deepEqual(await Promise.all([next(), next()]), [2, 2]);
    assert.equal(await next(), 2);
  });
});
