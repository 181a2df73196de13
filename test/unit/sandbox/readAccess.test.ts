import assert from 'node:assert/strict';
import { readAccess } from '../../../src/sandbox/readAccess.ts';
import { policyOf } from '../../harness/policyOf.ts';

describe('readAccess()', () => {
  const policy = policyOf('/w', {
    files: [
      ...policyOf('/w').files,
      { path: '/home/ann', access: 'none', source: 'default', writtenAs: ':home' },
      { path: '/home/ann/tool', access: 'read', source: 'user' },
    ],
    hidden: [{ folder: '/w', glob: '**/.env', source: 'workspace' }],
  });

  it('refuses what the rules and globs hide, in every mode of the sandbox', () => {
    for (const mode of ['read-only', 'workspace-write'] as const) {
      const access = readAccess({ ...policy, mode });
      const refused = [
        '/home/ann',
        '/home/ann/x',
        '/w/.env',
        '/w/a/.env/b',
        '/w/x',
        '/home/ann/tool/x',
      ].filter((path) => access(path) !== undefined);
      assert.deepEqual(refused, ['/home/ann', '/home/ann/x', '/w/.env', '/w/a/.env/b']);
    }
  });

  it('refuses nothing without a sandbox', () => {
    assert.equal(readAccess({ ...policy, mode: 'danger-full-access' })('/home/ann/x'), undefined);
  });

  it('says by which rule, of whom, and what opens it', () => {
    assert.deepEqual(readAccess(policy)('/home/ann/x'), {
      path: '/home/ann/x',
      clause: 'files',
      message: `/home/ann/x may not be read: it is hidden by the rule ":home" of Cordon's defaults.`,
      hint: 'If it must be open, ask the user to add "/home/ann/x": "read" to cordon.sandbox.files.',
    });
    assert.match(readAccess(policy)('/w/.env')?.hint ?? '', /workspace settings/);
  });

  it('refuses what no rule shows', () => {
    assert.match(readAccess({ ...policy, files: [] })('/x')?.message ?? '', /no rule shows it/);
  });
});
