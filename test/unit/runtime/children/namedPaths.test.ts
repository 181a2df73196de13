import assert from 'node:assert/strict';
import { namedPaths } from '../../../../src/runtime/children/namedPaths.ts';
import { policyOf } from '../../../harness/policyOf.ts';
import { pretendMachine } from '../../../harness/pretendMachine.ts';

describe('the paths that a command names', () => {
  const machine = pretendMachine(['/w/root/sub', '/w/bare.git', '/w/key', '/home/ann/x', '/real'], {
    '/w/link': '/real',
  });
  const named = (...words: readonly string[]): readonly string[] =>
    namedPaths({ argv: ['git', ...words], cwd: '/w/root/sub' }, policyOf('/w/root'), machine).map(
      (widening) => (widening.kind === 'path' ? `${widening.access} ${widening.path}` : widening.kind),
    );

  it('are those that exist and that the policy keeps it from writing, where they really are', () => {
    assert.deepEqual(named('push', '/w/bare.git', 'main'), ['write /w/bare.git']);
    assert.deepEqual(named('../../bare.git', 'file:///w/bare.git'), ['write /w/bare.git']);
    assert.deepEqual(named('--key=/w/key', '-o/w/none', '--', '/w/link'), ['write /w/key', 'write /real']);
    assert.deepEqual(named('/w/root/sub', './x', 'bare.git', '/w/missing', '--mirror'), []);
  });

  it('are never the root, the home folder or what contains them', () => {
    assert.deepEqual(named('/', '/w', '/home', '/home/ann', '../..'), []);
    assert.deepEqual(named('/home/ann/x'), ['write /home/ann/x']);
  });

  it('are none when they are many', () => {
    const many = pretendMachine(['/a/1', '/a/2', '/a/3', '/a/4', '/a/5', '/r']);
    const argv = ['cp', '/a/1', '/a/2', '/a/3', '/a/4', '/a/5'];
    assert.deepEqual(namedPaths({ argv, cwd: '/r' }, policyOf('/r'), many), []);
  });
});
