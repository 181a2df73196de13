import assert from 'node:assert/strict';
import { nodeMachine } from '../../../../src/sandbox/policy/nodeMachine.ts';
import type { PolicyInput } from '../../../../src/sandbox/policy/input.ts';
import type { SandboxPolicy } from '../../../../src/sandbox/policy/policy.ts';
import { resolvePolicy } from '../../../../src/sandbox/policy/resolve.ts';
import type { Widening } from '../../../../src/sandbox/policy/widening.ts';
import { isWideEnough, whyConfined, widenSettings } from '../../../../src/sandbox/policy/widening.ts';

/** What a root's policy is with widenings on top of the person's choice. */
function widened(widenings: readonly Widening[], input: Partial<PolicyInput> = {}): SandboxPolicy {
  const all: PolicyInput = { ...nodeMachine(), root: '/usr/src', isTrusted: true, user: {}, ...input };
  const resolve = (grant: PolicyInput['grant']): SandboxPolicy => {
    const policy = resolvePolicy({ ...all, ...(grant !== undefined && { grant }) });
    assert.ok(policy.ok, policy.ok ? '' : policy.error.message);
    return policy.value;
  };
  return resolve(widenSettings(all.grant ?? {}, widenings, resolve(all.grant), all));
}

const all: readonly Widening[] = [
  { kind: 'path', path: '/etc', access: 'write' },
  { kind: 'path', path: '/root', access: 'read' },
  { kind: 'host', host: 'example.org:443' },
  { kind: 'host', host: '127.0.0.1:8080' },
  { kind: 'host', host: 'example.org' },
  { kind: 'socket', path: '/run/service.sock' },
  { kind: 'network' },
  { kind: 'unsandboxed' },
];

describe('widenings', () => {
  for (const widening of all) {
    it(`open what they name: ${JSON.stringify(widening)}`, () => {
      assert.equal(isWideEnough(widened([]), widening), false);
      assert.equal(isWideEnough(widened([widening]), widening), true);
    });

    it(`open nothing in an untrusted workspace: ${JSON.stringify(widening)}`, () => {
      const untrusted = { isTrusted: false };
      // What can be read there anyway stays so.
      const isReading = widening.kind === 'path' && widening.access === 'read';
      assert.equal(isWideEnough(widened([widening], untrusted), widening), isReading);
      assert.equal(widened([widening], untrusted).mode, 'read-only');
    });
  }

  it('open nothing where a link has taken the place of what was granted, and are no globs', () => {
    const links = new Map([['/data/project', '/home/other/.ssh']]);
    const machine = nodeMachine();
    const canonicalize = (path: string): string | undefined => links.get(path) ?? machine.canonicalize(path);
    for (const path of ['/data/project', '/data/project/new', '/usr/src/**/.env']) {
      const before = widened([], { canonicalize });
      assert.deepEqual(widened([{ kind: 'path', path, access: 'write' }], { canonicalize }), before, path);
    }
    assert.deepEqual(
      widened([{ kind: 'socket', path: '/data/project' }], { canonicalize }),
      widened([], { canonicalize }),
    );
  });

  it('open a read-only root, when they are for that', () => {
    const user = { mode: 'read-only' };
    assert.equal(isWideEnough(widened([], { user }), { kind: 'mode' }), false);
    assert.equal(isWideEnough(widened([{ kind: 'mode' }], { user }), { kind: 'mode' }), true);
  });

  it('do not outrank the administrator or the workspace', () => {
    for (const input of [
      { managed: { network: 'off', mode: 'workspace-write', files: { '/etc': 'read' } } },
      { workspace: { network: 'off', mode: 'workspace-write', files: { '/etc': 'read' } } },
    ]) {
      for (const widening of all.filter(({ kind }) => kind !== 'socket')) {
        const isOther = widening.kind === 'path' && widening.path === '/root';
        assert.equal(isWideEnough(widened([widening], input), widening), isOther, JSON.stringify(widening));
      }
    }
  });

  it('add to what the person chose', () => {
    const policy = widened(
      [
        { kind: 'path', path: '/etc', access: 'write' },
        { kind: 'path', path: '/etc', access: 'read' },
        { kind: 'socket', path: '/run/b.sock' },
        { kind: 'host', host: 'b.example' },
      ],
      {
        user: { sockets: ['/run/a.sock'], network: 'allow-list', hosts: { 'a.example': 'allow' } },
        grant: { files: { '/var': 'write' } },
      },
    );
    for (const widening of [
      { kind: 'path', path: '/etc', access: 'write' },
      { kind: 'path', path: '/var', access: 'write' },
      { kind: 'socket', path: '/run/a.sock' },
      { kind: 'socket', path: '/run/b.sock' },
      { kind: 'host', host: 'a.example' },
      { kind: 'host', host: 'b.example' },
    ] as const) {
      assert.equal(isWideEnough(policy, widening), true, JSON.stringify(widening));
    }
    assert.equal(isWideEnough(policy, { kind: 'host', host: 'c.example' }), false);
  });

  it('do not outrank a denied host', () => {
    const user = { network: 'allow-list', hosts: { 'example.org': 'deny' } };
    const widening: Widening = { kind: 'host', host: 'example.org:443' };
    assert.equal(isWideEnough(widened([widening], { user }), widening), false);
  });
});

describe('whyConfined()', () => {
  it('is undefined under the defaults, whose read denials a person may leave behind', () => {
    assert.equal(whyConfined(widened([])), undefined);
  });

  for (const [name, input, reason] of [
    ['trust', { isTrusted: false }, /not trusted/],
    ['the administrator', { managed: { network: 'off' }, user: { network: 'on' } }, /administrator/],
    ['a hidden path', { user: { files: { '/srv': 'none' } } }, /forbids reading \/srv/],
    ['a hidden glob', { user: { files: { '**/*.key': 'none' } } }, /forbids reading \*\*\/\*\.key/],
  ] as const) {
    it(`names ${name}`, () => assert.match(whyConfined(widened([], input)) ?? '', reason));
  }
});
