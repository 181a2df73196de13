import assert from 'node:assert/strict';
import { wideningsOf } from '../../../../src/sandbox/importers/widening.ts';
import { defaultEnvironmentPolicy } from '../../../../src/sandbox/environment.ts';
import { accesses, accessTo } from '../../../../src/sandbox/policy/fileRules.ts';
import type { FileRule } from '../../../../src/sandbox/policy/fileRules.ts';
import type { SandboxPolicy } from '../../../../src/sandbox/policy/policy.ts';
import { policyOf } from '../../../harness/policyOf.ts';
import { Random } from '../../../harness/random.ts';

const strict = policyOf('/w', {
  mode: 'read-only',
  git: 'read-only',
  hidden: [{ folder: '/w', glob: '**/.env*', source: 'user' }],
  environment: { ...defaultEnvironmentPolicy, exclude: ['AWS_*'], includeOnly: ['PATH'] },
  limits: { processes: 100, memoryMiB: 1000 },
});

describe('what an import would widen', () => {
  it('is nothing for the same policy, a narrower one, and anything beside full access', () => {
    assert.deepEqual(wideningsOf(strict, strict), []);
    const narrower = policyOf('/w', { ...strict, limits: { processes: 10, memoryMiB: 1000, cpuSeconds: 5 } });
    assert.deepEqual(wideningsOf(strict, narrower), []);
    assert.deepEqual(wideningsOf(policyOf('/w', { mode: 'danger-full-access' }), strict), []);
  });

  const cases: readonly (readonly [
    name: string,
    changes: Partial<SandboxPolicy>,
    lines: readonly string[],
  ])[] = [
    ['mode', { mode: 'workspace-write' }, ['mode: read-only → workspace-write']],
    ['full access', { mode: 'danger-full-access', files: [] }, ['mode: read-only → danger-full-access']],
    ['network', { network: 'on' }, ['network: off → on']],
    ['git', { git: 'commands' }, ['git: read-only → commands']],
    ['caches', { caches: 'shared' }, ['caches: off → shared']],
    ['the temporary folder', { tmp: 'shared' }, ['tmp: private → shared']],
    [
      'a path',
      { files: [...strict.files, { path: '/etc', access: 'write', source: 'profile' }] },
      ['files: /etc: read → write'],
    ],
    ['a hidden name', { hidden: [] }, ['files: **/.env* below /w no longer hidden']],
    [
      'hosts',
      { network: 'allow-list', hosts: { allow: [{ host: 'example.org', port: 443 }], deny: [] } },
      ['network: off → allow-list', 'hosts: example.org:443'],
    ],
    ['sockets', { sockets: ['/run/example.sock'] }, ['sockets: /run/example.sock']],
    [
      'the environment',
      {
        environment: { inherit: 'all', ignoreDefaultExcludes: true, exclude: [], set: {}, includeOnly: [] },
      },
      [
        'environment: inherits core → all',
        'environment: names that look like secrets',
        'environment: AWS_* no longer excluded',
        'environment: no longer limited to names',
      ],
    ],
    [
      'limits',
      { limits: { processes: 200 } },
      ['limits: processes: 100 → 200', 'limits: memoryMiB: 1000 → no limit'],
    ],
  ];
  for (const [name, changes, lines] of cases) {
    it(`names ${name}`, () => {
      assert.deepEqual(linesOf(strict, { ...strict, ...changes }), lines);
    });
  }

  it('names a host that is not denied any more, and only new hosts of two lists', () => {
    const listed = (allow: readonly string[], deny: readonly string[]): SandboxPolicy => ({
      ...strict,
      network: 'allow-list',
      hosts: { allow: allow.map((host) => ({ host })), deny: deny.map((host) => ({ host })) },
    });
    assert.deepEqual(linesOf(listed(['a.example'], ['x.example']), listed(['a.example', 'b.example'], [])), [
      'hosts: b.example',
      'hosts: x.example no longer denied',
    ]);
  });

  it('names a path whenever any path is more open, over random rules', () => {
    const random = new Random(7);
    const paths = ['/', '/a', '/a/b', '/a/b/c', '/a/d', '/e', '/e/f'];
    const rules = (): readonly FileRule[] => [
      { path: '/', access: random.pick(accesses), source: 'user' },
      ...paths
        .slice(1)
        .filter(() => random.chance(0.5))
        .map((path) => ({ path, access: random.pick(accesses), source: 'user' as const })),
    ];
    const probes = [...paths, '/a/b/c/x', '/a/x', '/x', '/e/f/x'];
    let wider = 0;
    for (let index = 0; index < 500; index += 1) {
      const [before, after] = [rules(), rules()].map((files) => ({ ...strict, hidden: [], files }));
      assert.ok(before !== undefined && after !== undefined);
      const isWider = probes.some(
        (path) => accesses.indexOf(accessTo(after, path)) > accesses.indexOf(accessTo(before, path)),
      );
      wider += Number(isWider);
      assert.equal(
        wideningsOf(before, after).length > 0,
        isWider,
        JSON.stringify([before.files, after.files]),
      );
    }
    assert.ok(wider > 50 && wider < 500, `${wider} of 500 were wider`);
  });
});

function linesOf(before: SandboxPolicy, after: SandboxPolicy): readonly string[] {
  return wideningsOf(before, after).map(({ clause, what }) => `${clause}: ${what}`);
}
