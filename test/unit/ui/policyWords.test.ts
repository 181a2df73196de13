import assert from 'node:assert/strict';
import type { SandboxPolicy } from '../../../src/sandbox/policy/policy.ts';
import { clauseLines, policySummary } from '../../../src/ui/policyWords.ts';
import { allFrom, policyOf } from '../../harness/policyOf.ts';

const policy = policyOf('/w', {
  writableRoots: ['/w', '/cache'],
  sources: { ...allFrom('default'), mode: 'user', tmp: 'workspace', writableRoots: 'user' },
});
const open: SandboxPolicy = { ...policy, mode: 'danger-full-access', network: 'on' };
const untrusted: SandboxPolicy = {
  ...policy,
  mode: 'read-only',
  sources: { ...policy.sources, mode: 'untrusted' },
};

describe('policySummary()', () => {
  it('names mode and network, and nothing that a missing sandbox does not confine', () => {
    assert.equal(policySummary(policy), 'Workspace write · network off');
    assert.equal(policySummary({ ...policy, mode: 'read-only', network: 'on' }), 'Read only · network on');
    assert.equal(policySummary(open), 'No sandbox');
  });

  it('tells that the workspace is not trusted', () => {
    assert.equal(policySummary(untrusted), 'Read only (workspace not trusted)');
  });
});

describe('clauseLines()', () => {
  it('tells for each clause who decided it', () => {
    assert.deepEqual(clauseLines(policy), [
      'Mode: Workspace write (your settings)',
      'Network: off (default)',
      'Git: read only (default)',
      'Caches: off (default)',
      'Temporary folder: private (narrowed by the workspace)',
      'Also writable: /cache (your settings)',
    ]);
  });

  it('counts the allowed hosts of a limited network', () => {
    const allow = [{ host: 'example.org' }, { host: '*.example.com', port: 443 }];
    const limited: SandboxPolicy = { ...policy, network: 'allow-list', hosts: { allow, deny: [] } };
    assert.equal(clauseLines(limited)[1], 'Network: limited to 2 hosts (default)');
    assert.equal(policySummary(limited), 'Workspace write · network limited');
  });

  it('claims no confinement without a sandbox', () => {
    assert.deepEqual(clauseLines(open), ['Mode: No sandbox (your settings)']);
  });
});
