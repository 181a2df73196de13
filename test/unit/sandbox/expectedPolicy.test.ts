import assert from 'node:assert/strict';
import { expectedPolicy } from '../../../src/sandbox/policy/expectedPolicy.ts';
import type { Widening } from '../../../src/sandbox/policy/widening.ts';
import { isWideEnough } from '../../../src/sandbox/policy/widening.ts';
import { testPolicy } from '../../harness/testRuntime.ts';

const widenings: readonly Widening[] = [
  { kind: 'path', path: '/srv/data', access: 'write' },
  { kind: 'path', path: '/srv/data', access: 'read' },
  { kind: 'host', host: 'example.org:443' },
  { kind: 'socket', path: '/run/some.sock' },
  { kind: 'network' },
  { kind: 'mode' },
  { kind: 'unsandboxed' },
];

describe('expectedPolicy()', () => {
  for (const widening of widenings) {
    const policy = testPolicy('/tmp', { mode: 'read-only', files: { '/srv/data': 'none' } });

    it(`has what ${JSON.stringify(widening)} brings`, () => {
      assert.equal(isWideEnough(policy, widening), false);
      assert.equal(isWideEnough(expectedPolicy(policy, [widening]), widening), true);
    });

    for (const source of ['managed', 'workspace', 'untrusted'] as const) {
      it(`has not what ${JSON.stringify(widening)} brings where it is narrowed: ${source}`, () => {
        const sources = Object.fromEntries(Object.keys(policy.sources).map((clause) => [clause, source]));
        const narrowed = { ...policy, sources: sources as typeof policy.sources };
        assert.deepEqual(expectedPolicy(narrowed, [widening]), narrowed);
      });
    }
  }
});
