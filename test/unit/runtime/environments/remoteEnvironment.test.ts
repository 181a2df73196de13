import assert from 'node:assert/strict';
import { fail } from '../../../../src/base/result.ts';
import { silentLog } from '../../../../src/base/log.ts';
import { createRemoteEnvironment } from '../../../../src/runtime/environments/remoteEnvironment.ts';

describe('an environment that is being connected to', () => {
  it('gives up for everybody who waits when it is cancelled, and can be tried again', async () => {
    let dials = 0;
    const environment = createRemoteEnvironment({
      name: 'far',
      address: 'ssh far',
      folder: '/srv',
      log: silentLog,
      dial(signal) {
        dials += 1;
        const error = { kind: 'unreachable', message: 'It was given up.', hint: '' } as const;
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve(fail(error))));
      },
    });
    for (const attempt of [1, 2]) {
      const waiting = [environment.connect(), environment.connect()];
      environment.cancel?.();
      for (const result of await Promise.all(waiting)) {
        assert.ok(!result.ok);
        assert.equal(result.error.message, 'Connecting to ssh far was cancelled.');
      }
      assert.equal(dials, attempt);
      assert.equal(environment.state.kind, 'failed');
    }
    environment.dispose();
  });
});
