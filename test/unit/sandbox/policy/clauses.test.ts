import assert from 'node:assert/strict';
import { policyHash } from '../../../../src/sandbox/policy/policyHash.ts';
import { problemOf, resolved } from '../../../harness/pretendMachine.ts';

describe('the other clauses', () => {
  it('take limits field by field; null lifts one, and who narrows can only lower', () => {
    const user = { limits: { processes: 10, memoryMiB: 20 } };
    const policy = resolved({ user, grant: { limits: { memoryMiB: null, cpuSeconds: 5 } } });
    assert.deepEqual(
      [policy.limits.processes, policy.limits.memoryMiB, policy.limits.cpuSeconds],
      [10, undefined, 5],
    );
    assert.equal(policy.sources.limits, 'grant');
    const narrowed = resolved({
      user,
      workspace: { limits: { processes: 20, memoryMiB: 5, cpuSeconds: 7 } },
    });
    assert.deepEqual(
      [narrowed.limits.processes, narrowed.limits.memoryMiB, narrowed.limits.cpuSeconds],
      [10, 5, 7],
    );
    assert.equal(narrowed.sources.limits, 'workspace');
    const same = resolved({ user, workspace: { limits: { processes: null } } });
    assert.deepEqual([same.limits.processes, same.sources.limits], [10, 'user']);
  });

  it('refuse limits that are none', () => {
    for (const [value, message] of [
      [0, /greater than 0/],
      [1.5, /a whole number/],
      ['1', /a whole number/],
    ] as const) {
      assert.match(problemOf({ user: { limits: { processes: value } } }).message, message);
    }
  });

  it('take the strongest list of sockets, and leave what a narrowing list names, too', () => {
    const user = { sockets: ['/run/a.sock', '~/b.sock', '/run/x/../a.sock'] };
    assert.deepEqual(resolved({ user }).sockets, ['/run/a.sock', '/home/ann/b.sock']);
    assert.deepEqual(resolved({ user, grant: { sockets: ['/run/c'] } }).sockets, ['/run/c']);
    const narrowed = resolved({ user, managed: { sockets: ['/run/a.sock', '/run/docker.sock'] } });
    assert.deepEqual([narrowed.sockets, narrowed.sources.sockets], [['/run/a.sock'], 'managed']);
    assert.match(problemOf({ user: { sockets: ['a.sock'] } }).message, /sockets is "a\.sock"/);
  });

  it('complete the environment field by field, the stronger owner first', () => {
    const policy = resolved({
      user: { environment: { inherit: 'all', exclude: ['A'], ignoreDefaultExcludes: true } },
      grant: { environment: { exclude: ['B'], includeOnly: ['C*'], set: { C: '1' } } },
    });
    assert.deepEqual(policy.environment, {
      inherit: 'all',
      ignoreDefaultExcludes: true,
      exclude: ['B'],
      set: { C: '1' },
      includeOnly: ['C*'],
    });
  });

  it('let who narrows start from less and drop names, but add none', () => {
    const user = {
      environment: { inherit: 'core', exclude: ['A'], set: { X: '1' }, ignoreDefaultExcludes: true },
    };
    const { environment, sources } = resolved({
      user,
      workspace: {
        environment: { inherit: 'none', exclude: ['B'], set: { Y: '2' }, ignoreDefaultExcludes: false },
      },
    });
    assert.deepEqual(environment, {
      inherit: 'none',
      ignoreDefaultExcludes: false,
      exclude: ['A', 'B'],
      set: { X: '1' },
      includeOnly: [],
    });
    assert.equal(sources.environment, 'workspace');
    const only = (own: readonly string[], by: readonly string[]) =>
      resolved({
        user: { environment: { includeOnly: own, set: { X: '1' } } },
        managed: { environment: { includeOnly: by } },
      }).environment;
    assert.deepEqual(only([], ['A']).includeOnly, ['A']);
    assert.deepEqual(only(['A', 'B'], ['B', 'C']).includeOnly, ['B']);
    assert.deepEqual(only(['A'], []).includeOnly, ['A']);
    assert.deepEqual([only(['A'], ['B']).inherit, only(['A'], ['B']).set], ['none', {}]);
  });

  it('let who narrows anything end full access, in which nothing would hold', () => {
    const user = { mode: 'danger-full-access', network: 'off' };
    const demands = [
      { files: { x: 'none' } },
      { network: 'off' },
      { network: 'allow-list' },
      { tmp: 'private' },
      { git: 'commands' },
      { caches: 'private' },
      { hosts: { 'a.org': 'deny' } },
      { sockets: [] },
      { limits: { processes: 3 } },
    ];
    for (const managed of demands) {
      const policy = resolved({ user, managed });
      assert.deepEqual(
        [policy.mode, policy.sources.mode, policy.network],
        ['workspace-write', 'managed', 'off'],
      );
    }
    for (const managed of [
      {},
      { network: 'on' },
      { tmp: 'shared' },
      { files: { x: 'write' } },
      { mode: 'danger-full-access' },
    ]) {
      assert.equal(resolved({ user, managed }).mode, 'danger-full-access', JSON.stringify(managed));
    }
  });

  it('give an untrusted workspace nothing, whatever all say', () => {
    const everything = {
      ...{ mode: 'danger-full-access', network: 'on', tmp: 'shared', git: 'writable', caches: 'shared' },
      ...{ sockets: ['/run/a'], hosts: { '*': 'allow' } },
    };
    const policy = resolved({ user: everything, grant: everything, isTrusted: false });
    assert.deepEqual(
      [
        policy.mode,
        policy.network,
        policy.tmp,
        policy.git,
        policy.caches,
        policy.sockets,
        policy.hosts.allow,
      ],
      ['read-only', 'off', 'private', 'read-only', 'off', [], []],
    );
    assert.deepEqual(
      new Set(
        ['mode', 'network', 'tmp', 'git', 'caches', 'sockets', 'hosts'].map(
          (name) => policy.sources[name as 'mode'],
        ),
      ),
      new Set(['untrusted']),
    );
  });

  it('name the administrator in the problems of their file', () => {
    const problem = problemOf({ managed: { mode: 'strict' } });
    assert.deepEqual([problem.field, problem.source], ['managed.mode', 'managed']);
    assert.match(problem.message, /in the administrator's policy/);
    assert.match(problemOf({ managed: [] }).message, /managed is \[\].*an object/);
    assert.match(problemOf({ managed: null }).message, /managed is null/);
  });
});

describe('policyHash()', () => {
  it('is the same for the same policy only, in whatever order its fields are', () => {
    const policy = resolved();
    const reversed = Object.fromEntries(Object.entries(policy).toReversed()) as unknown as typeof policy;
    assert.match(policyHash(policy), /^[0-9a-f]{64}$/);
    assert.equal(policyHash(reversed), policyHash(policy));
    assert.notEqual(policyHash(resolved({ user: { network: 'on' } })), policyHash(policy));
    assert.notEqual(policyHash({ ...policy, files: policy.files.toReversed() }), policyHash(policy));
  });
});
