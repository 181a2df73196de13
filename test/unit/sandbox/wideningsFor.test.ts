import assert from 'node:assert/strict';
import type { Denial } from '../../../src/sandbox/denials/denial.ts';
import { wideningsFor } from '../../../src/sandbox/denials/wideningsFor.ts';
import { noHosts } from '../../../src/sandbox/policy/hostRules.ts';
import { policyOf } from '../../harness/policyOf.ts';

const existing = new Set(['/', '/home', '/home/ada', '/srv', '/srv/data', '/srv/data/file', '/w', '/w/app']);
const machine = {
  homeDir: '/home/ada',
  canonicalize: (path: string) => (existing.has(path) ? path : undefined),
};
const policy = policyOf('/w/app', {
  files: [
    { path: '/', access: 'read', source: 'default' },
    { path: '/w/app', access: 'write', source: 'default' },
    { path: '/home/ada', access: 'none', source: 'default' },
  ],
});
const denial = (about: Partial<Denial>): Denial => ({ certainty: 'known', message: '', hint: '', ...about });
const fixes = (about: Partial<Denial>, of = policy) => wideningsFor(denial(about), of, machine);

describe('wideningsFor()', () => {
  it('opens exactly what was asked for', () => {
    for (const [about, widening] of [
      [
        { path: '/srv/data/file', access: 'write' },
        { kind: 'path', path: '/srv/data/file', access: 'write' },
      ],
      [
        { path: '/home/ada', access: 'read' },
        { kind: 'path', path: '/home/ada', access: 'read' },
      ],
      [{ host: 'example.org:443' }, { kind: 'host', host: 'example.org:443' }],
      [{ socket: '/srv/db.sock' }, { kind: 'socket', path: '/srv/db.sock' }],
      [{ clause: 'network' }, { kind: 'network' }],
    ] as const) {
      assert.deepEqual(fixes(about), [widening]);
    }
  });

  it('opens the folder in which something new is to be made, but none that holds everything', () => {
    const makes = (path: string) => fixes({ path, access: 'write' });
    assert.deepEqual(makes('/srv/data/new/deep'), [{ kind: 'path', path: '/srv/data', access: 'write' }]);
    for (const path of ['/new', '/srv/new', '/home/ada/new', '/w/new']) {
      assert.deepEqual(makes(path), [], path);
    }
  });

  it('offers nothing for what is open, and for what no grant opens', () => {
    for (const about of [
      { path: '/w/app/.git/hooks', access: 'write' },
      { path: '/srv/data', access: 'read' },
      { path: 'relative', access: 'write' },
      { path: '/srv/data' },
      { clause: 'limits' },
      { call: 'mount' },
      {},
    ] as const) {
      assert.deepEqual(fixes(about), [], JSON.stringify(about));
    }
  });

  it('opens a read-only root as a whole', () => {
    const readOnly = policyOf('/w/app', { mode: 'read-only' });
    assert.deepEqual(fixes({ clause: 'mode', path: '/w/app/x', access: 'write' }, readOnly), [
      { kind: 'mode' },
    ]);
  });

  it('knows that programs do not ask the proxy for loopback', () => {
    const listed = policyOf('/w/app', { network: 'allow-list', hosts: noHosts });
    for (const host of ['localhost:8080', '127.0.0.1:8080', '127.0.0.1', '[::1]:8080']) {
      assert.deepEqual(fixes({ certainty: 'likely', host }, listed), [{ kind: 'network' }], host);
      assert.deepEqual(fixes({ certainty: 'known', host }, listed), [{ kind: 'host', host }], host);
    }
    assert.deepEqual(fixes({ certainty: 'likely', host: '127.0.0.2:80' }, listed), [
      { kind: 'host', host: '127.0.0.2:80' },
    ]);
  });
});
