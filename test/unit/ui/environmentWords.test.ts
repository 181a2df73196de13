import assert from 'node:assert/strict';
import type { EnvironmentError } from '../../../src/runtime/environments/environment.ts';
import {
  curesFor,
  placeWords,
  localPlaceWords,
  stateOfEnvironment,
} from '../../../src/ui/environments/environmentWords.ts';

const error = (kind: EnvironmentError['kind']): EnvironmentError => ({ kind, message: 'No.', hint: 'Do.' });

describe('the words about environments', () => {
  it('say how one stands', () => {
    assert.equal(stateOfEnvironment({ kind: 'idle' }), 'not connected');
    assert.equal(stateOfEnvironment({ kind: 'connecting' }), 'connecting…');
    assert.equal(stateOfEnvironment({ kind: 'connected', version: '1.2' }), 'connected, version 1.2');
    const old = { kind: 'connected', version: '1.1', isOtherBuild: true } as const;
    assert.match(localPlaceWords(old), /this machine: connected, version 1\.1, from before an update/);
    assert.equal(localPlaceWords({ kind: 'connected', version: '1.2' }), 'Commands run on this machine');
    const hash = '0123456789abcdef'.repeat(4);
    assert.equal(stateOfEnvironment({ kind: 'connected', version: hash }), 'connected, build 01234567');
    assert.equal(stateOfEnvironment({ kind: 'failed', error: error('refused') }), 'No.');
  });

  it('say where commands run, with the address', () => {
    assert.equal(
      placeWords('build', 'ssh build.example', { kind: 'connecting' }),
      'Commands run in the environment build, ssh build.example: connecting…',
    );
  });

  it('offer the settings where they can be the cause, and the log where it can tell more', () => {
    assert.deepEqual(curesFor(error('invalid-settings')), ['settings']);
    assert.deepEqual(curesFor(error('wrong-key')), ['settings', 'log']);
    assert.deepEqual(curesFor(error('refused')), ['settings', 'log']);
    assert.deepEqual(curesFor(error('not-installed')), ['log']);
  });
});
