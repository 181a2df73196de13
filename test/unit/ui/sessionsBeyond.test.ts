import assert from 'node:assert/strict';
import { ok } from '../../../src/base/result.ts';
import type { Grant } from '../../../src/runtime/approvals/grant.ts';
import type { SandboxPolicy } from '../../../src/sandbox/policy/policy.ts';
import { sessionsBeyond } from '../../../src/ui/grants/sessionsBeyond.ts';
import { policyOf } from '../../harness/policyOf.ts';

const root = { name: 'app', path: '/w' };
const narrow = policyOf('/w');
const wide = policyOf('/w', { writableRoots: ['/w', '/data'] });
const grant: Grant = {
  id: 'g',
  root: '/w',
  what: { kind: 'path', path: '/data', access: 'write' },
  lasts: 'root',
  grantedAt: 1_000,
  because: 'make',
};
const running: Parameters<typeof sessionsBeyond>[1][number] = {
  root,
  policy: wide,
  state: { kind: 'running' },
  isUnsandboxed: false,
  startedAt: new Date(2_000),
};

describe('what runs with a revoked grant', () => {
  const beyond = (session: Partial<typeof running>, now: SandboxPolicy = narrow, given = grant): boolean =>
    sessionsBeyond([given], [{ ...running, ...session }], { policyFor: () => ok(now) }).length === 1;

  it('is a running session of the root that started under it', () => {
    assert.ok(beyond({}));
  });

  it('is no session that never had it', () => {
    assert.ok(!beyond({ policy: narrow }), 'ran under a narrower policy');
    assert.ok(!beyond({ startedAt: new Date(500) }), 'started before');
    assert.ok(!beyond({ root: { name: 'other', path: '/other' } }), 'of another root');
    assert.ok(!beyond({ isUnsandboxed: true }), 'without a sandbox anyway');
  });

  it('is no session that has ended', () => {
    const ended = { kind: 'exited', exitCode: 0, sandboxDenied: false, durationMs: 1 } as const;
    assert.deepEqual(
      sessionsBeyond([grant], [{ ...running, state: ended }], { policyFor: () => ok(narrow) }),
      [],
    );
  });

  it('is none while the settings allow the same, and none for a prefix', () => {
    assert.ok(!beyond({}, wide));
    assert.ok(!beyond({}, narrow, { ...grant, what: { kind: 'prefix', words: ['make'] } }));
  });
});
