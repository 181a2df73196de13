import assert from 'node:assert/strict';
import type { PolicyInput } from '../../../../src/sandbox/policy/input.ts';
import { nodeMachine } from '../../../../src/sandbox/policy/nodeMachine.ts';
import { RecentPolicies } from '../../../../src/sandbox/policy/recentPolicies.ts';

describe('RecentPolicies', () => {
  const input: PolicyInput = { ...nodeMachine(), root: '/usr/src', isTrusted: true, user: {} };
  let time = 0;
  let policies: RecentPolicies;
  beforeEach(() => {
    time = 0;
    policies = new RecentPolicies(() => time);
  });

  it('gives the same policy for a moment, and then looks again', () => {
    const first = policies.resolve(input);
    time = 99;
    assert.equal(policies.resolve({ ...input }), first);
    time = 100;
    assert.notEqual(policies.resolve(input), first);
  });

  it('hears every word at once', () => {
    const before = policies.resolve(input);
    assert.ok(before.ok);
    assert.equal(before.value.mode, 'workspace-write');
    for (const change of [
      { isTrusted: false },
      { user: { mode: 'read-only' } },
      { profile: 'read-only' },
      { profile: 'strict', profiles: { strict: { mode: 'read-only' } } },
      { grant: { mode: 'read-only' } },
      { managed: { mode: 'read-only' } },
      { workspace: { mode: 'read-only' } },
    ]) {
      const after = policies.resolve({ ...input, ...change });
      assert.ok(after.ok);
      assert.equal(after.value.mode, 'read-only', JSON.stringify(change));
    }
    const wrong = policies.resolve({ ...input, user: { mode: 'open' } });
    assert.equal(wrong.ok, false);
  });

  it('keeps the policies of many roots, but not of any number', () => {
    const first = policies.resolve(input);
    for (let root = 0; root < 31; root++) {
      policies.resolve({ ...input, root: `/usr/src/${root}` });
    }
    assert.equal(policies.resolve(input), first);
    for (let root = 0; root < 32; root++) {
      policies.resolve({ ...input, root: `/usr/lib/${root}` });
    }
    assert.notEqual(policies.resolve(input), first);
  });
});
