import assert from 'node:assert/strict';
import { resolveReviewMode } from '../../../src/patch/reviewMode.ts';

describe('resolveReviewMode()', () => {
  for (const [user, workspace, expected] of [
    [undefined, undefined, 'outsideRules'],
    ['never', undefined, 'never'],
    ['always', undefined, 'always'],
    [undefined, 'always', 'always'],
    [undefined, 'never', 'outsideRules'],
    ['never', 'outsideRules', 'outsideRules'],
    ['always', 'never', 'always'],
    ['nevver', undefined, 'always'],
    ['never', 'off', 'always'],
    [null, undefined, 'always'],
    [undefined, null, 'always'],
  ] as const) {
    it(`is ${expected} for the user's ${user} and the workspace's ${workspace}`, () => {
      assert.equal(resolveReviewMode({ user, workspace }), expected);
    });
  }
});
