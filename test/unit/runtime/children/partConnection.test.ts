import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { PartConnection } from '../../../../src/runtime/children/partConnection.ts';
import { signalNumber } from '../../../../src/terminal/processGroup.ts';
import { waitFor } from '../../../harness/waitFor.ts';

const signal = (name: NodeJS.Signals) => ({ letter: 'S', rest: Buffer.of(signalNumber(name)) });

describe('the connection of a part', () => {
  it('passes the first and the last of many signals on, not all of a flood', async () => {
    const part = new PartConnection(new PassThrough());
    const passed: string[] = [];
    part.onSignal = (name) => passed.push(name);
    part.heed(signal('SIGUSR1'));
    assert.deepEqual(passed, ['SIGUSR1']);
    for (let i = 0; i < 10_000; i++) {
      part.heed(signal('SIGUSR1'));
    }
    part.heed(signal('SIGTERM'));
    await waitFor('the rest', () => passed.length > 1);
    assert.deepEqual(passed, ['SIGUSR1', 'SIGUSR1', 'SIGTERM']);
  });

  it('ends with the first signal that no part passes on', () => {
    const connection = new PassThrough();
    const part = new PartConnection(connection);
    part.onSignal = () => assert.fail('passed on');
    part.heed(signal('SIGKILL'));
    assert.equal(connection.destroyed, true);
  });
});
