import assert from 'node:assert/strict';
import { searchedRoots } from '../../../src/sandbox/linux/lookAround.ts';
import { temporaryFolders } from '../../../src/sandbox/temporaryFolders.ts';
import { policyOf } from '../../harness/policyOf.ts';

describe('The folders that are looked through for repositories', () => {
  const [temporary = '/tmp'] = temporaryFolders();
  const shared = policyOf('/project', { writableRoots: ['/project', temporary], tmp: 'shared' });
  const asked = { ...shared, sources: { ...shared.sources, tmp: 'request' } } as const;

  it('are the root and a temporary folder that the policy shares', () => {
    assert.deepEqual(searchedRoots(shared), ['/project', temporary]);
  });

  it('do not hold a temporary folder that another client asks for', () => {
    assert.deepEqual(searchedRoots(asked), ['/project']);
  });

  it('hold it all the same where it is the root', () => {
    assert.deepEqual(
      [...searchedRoots({ ...asked, root: temporary })].sort(),
      ['/project', temporary].sort(),
    );
  });

  it('are neither the whole machine nor its system', () => {
    assert.deepEqual(searchedRoots(policyOf('/', { writableRoots: ['/', '/sys/fs', '/project'] })), [
      '/project',
    ]);
  });
});
