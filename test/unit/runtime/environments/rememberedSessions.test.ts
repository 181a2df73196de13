import assert from 'node:assert/strict';
import { silentLog } from '../../../../src/base/log.ts';
import { RememberedSessions } from '../../../../src/runtime/environments/rememberedSessions.ts';
import { unhandledRejections } from '../../../harness/unhandledRejections.ts';

describe('the sessions that a program remembers for the next one', () => {
  it('are no reason to fail where nothing can be stored', async () => {
    const warnings: string[] = [];
    const sessions = new RememberedSessions(
      { get: () => undefined, update: () => Promise.reject(new Error('the disk is full')) },
      { ...silentLog, warn: (text) => void warnings.push(text) },
    );
    assert.deepEqual(await unhandledRejections(async () => sessions.remember('far', 'session-1')), []);
    assert.match(warnings.join(), /far will not be found again: Error: the disk is full/);
    assert.equal(sessions.sessionOf('far'), undefined);
  });
});
