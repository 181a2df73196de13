import assert from 'node:assert/strict';
import { problemOf, resolved } from '../../../harness/pretendMachine.ts';

const profiles = {
  base: {
    extends: 'read-only',
    network: 'allow-list',
    hosts: { 'a.org': 'allow' },
    limits: { processes: 10 },
  },
  open: { extends: 'base', mode: 'workspace-write', limits: { memoryMiB: 20 } },
  circle: { extends: 'second' },
  second: { extends: 'circle' },
  lost: { extends: 'nowhere' },
  broken: { network: 'maybe' },
};

describe('profiles', () => {
  it('replace the user settings, and are replaced by the choice for the root', () => {
    const user = { network: 'on', tmp: 'shared' };
    const policy = resolved({ user, profiles, profile: 'base' });
    assert.deepEqual([policy.mode, policy.network, policy.tmp], ['read-only', 'allow-list', 'shared']);
    assert.deepEqual(
      [policy.sources.mode, policy.sources.network, policy.sources.tmp],
      ['profile', 'profile', 'user'],
    );
    assert.equal(resolved({ user, profiles, profile: 'base', grant: { network: 'off' } }).network, 'off');
  });

  it('extend each other and the modes', () => {
    const policy = resolved({ profiles, profile: 'open' });
    assert.deepEqual([policy.mode, policy.network], ['workspace-write', 'allow-list']);
    assert.deepEqual(policy.hosts.allow, [{ host: 'a.org' }]);
    assert.deepEqual([policy.limits.processes, policy.limits.memoryMiB], [10, 20]);
  });

  it('can be a mode alone', () => {
    assert.equal(resolved({ profile: 'read-only' }).mode, 'read-only');
    assert.equal(resolved({ profile: 'read-only' }).sources.mode, 'profile');
  });

  it('do not matter while nobody chooses them', () => {
    assert.equal(resolved({ profiles: 'nonsense' }).mode, 'workspace-write');
  });

  const wrong: readonly (readonly [unknown, unknown, string, RegExp])[] = [
    ['nowhere', profiles, 'cordon.sandbox.profile', /"nowhere".*"base", "open".*"read-only"/],
    ['toString', profiles, 'cordon.sandbox.profile', /"toString"/],
    [3, profiles, 'cordon.sandbox.profile', /is 3/],
    ['circle', profiles, 'cordon.sandbox.profiles.second.extends', /circle → second → circle/],
    ['lost', profiles, 'cordon.sandbox.profiles.lost.extends', /"nowhere"/],
    ['broken', profiles, 'cordon.sandbox.profiles.broken.network', /"maybe" in the profile "broken"/],
    ['x', [], 'cordon.sandbox.profiles', /an object/],
    ['x', { x: 3 }, 'cordon.sandbox.profiles.x', /is 3 in the profile "x".*an object/],
    ['x', { x: { extend: 'y' } }, 'cordon.sandbox.profiles.x', /unknown "extend"/],
    ['x', { x: null }, 'cordon.sandbox.profiles.x', /is null/],
  ];
  for (const [profile, known, field, message] of wrong) {
    it(`refuse ${JSON.stringify(profile)} of ${JSON.stringify(known).slice(0, 40)}`, () => {
      const problem = problemOf({ profiles: known, profile });
      assert.equal(problem.field, field);
      assert.match(problem.message, message);
      assert.equal(problem.source, 'profile');
    });
  }
});
