import assert from 'node:assert/strict';
import { approvalModes, resolveApprovalPolicy } from '../../../../src/runtime/approvals/approvalPolicy.ts';

const resolve = (input: { user?: unknown; granular?: unknown; workspace?: unknown }) =>
  resolveApprovalPolicy({ user: undefined, granular: undefined, workspace: undefined, ...input });

describe('resolveApprovalPolicy()', () => {
  it('asks on request where nobody says otherwise', () => {
    const policy = resolve({});
    assert.ok(policy.ok);
    assert.equal(policy.value.mode, 'on-request');
    assert.deepEqual(policy.value.asks, { sandbox: true, rules: true, permissions: true });
  });

  it('never lets a workspace widen what the person says', () => {
    for (const user of approvalModes) {
      for (const workspace of approvalModes) {
        const policy = resolve({ user, workspace });
        assert.ok(policy.ok);
        const isTightened = workspace === 'untrusted' || workspace === 'never';
        const isTight = user === 'untrusted' || user === 'never';
        assert.equal(policy.value.mode, isTightened && !isTight ? workspace : user, `${user}, ${workspace}`);
      }
    }
  });

  it('says whose word the mode is', () => {
    const sourceOf = (input: Parameters<typeof resolve>[0]): string | undefined => {
      const policy = resolve(input);
      return policy.ok ? policy.value.source : undefined;
    };
    assert.equal(sourceOf({}), 'default');
    assert.equal(sourceOf({ user: 'on-failure', workspace: 'on-request' }), 'user');
    assert.equal(sourceOf({ user: 'never', workspace: 'never' }), 'user');
    assert.equal(sourceOf({ user: 'granular', workspace: 'untrusted' }), 'workspace');
  });

  it('switches single questions off', () => {
    const policy = resolve({ user: 'granular', granular: { rules: false } });
    assert.ok(policy.ok);
    assert.deepEqual(policy.value.asks, { sandbox: true, rules: false, permissions: true });
  });

  for (const [name, input, message] of [
    ['a mode', { user: 'sometimes' }, /cordon\.approvals\.policy is "sometimes" in the user settings/],
    ['a workspace', { workspace: 3 }, /cordon\.approvals\.policy is 3 in the workspace settings/],
    ['switches', { user: 'granular', granular: [] }, /cordon\.approvals\.granular is \[\]/],
    [
      'a switch',
      { user: 'granular', granular: { rules: 'no' } },
      /cordon\.approvals\.granular\.rules is "no"/,
    ],
    [
      'an unknown switch',
      { user: 'granular', granular: { mcp: true } },
      /granular\.mcp is true in .* but must be left out: the switches are sandbox, rules, permissions/,
    ],
  ] as const) {
    it(`refuses ${name} that is none`, () => {
      const policy = resolve(input);
      assert.ok(!policy.ok);
      assert.match(policy.error.message, message);
    });
  }
});
