import assert from 'node:assert/strict';
import { fail, ok } from '../../../../src/base/result.ts';
import { silentLog } from '../../../../src/base/log.ts';
import type { Environment } from '../../../../src/runtime/environments/environment.ts';
import { createRemoteEnvironment } from '../../../../src/runtime/environments/remoteEnvironment.ts';
import { errorCodes, RpcError } from '../../../../src/runtime/execServer/protocol/errors.ts';
import { unhandledRejections } from '../../../harness/unhandledRejections.ts';
import { PretendServer } from '../../../harness/pretendServer.ts';

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

  describe('says why, and leaves nothing behind,', () => {
    let server: PretendServer;
    let open: number;
    let environment: Environment;

    beforeEach(() => {
      server = new PretendServer();
      server.environmentInfo = {
        shell: { name: 'sh', path: '/bin/sh' },
        cordon: { version: 1, build: 'b', pid: 1 },
      };
      open = 0;
      environment = createRemoteEnvironment({
        name: 'far',
        address: 'ssh far',
        folder: '/srv',
        log: silentLog,
        async dial(signal) {
          const transport = await server.dial(signal);
          open += 1;
          transport.onClose(() => (open -= 1));
          return ok(transport);
        },
      });
    });
    afterEach(() => environment.dispose());

    it('when what connects fails in a way that nobody thought of', async () => {
      server.unreachable = new Error('a file of the bundle is missing');
      assert.deepEqual(await unhandledRejections(async () => environment.prewarm()), []);
      const connected = await environment.connect();
      assert.ok(!connected.ok);
      assert.match(connected.error.message, /ssh far failed: a file of the bundle is missing/);
      assert.deepEqual(environment.state, { kind: 'failed', error: connected.error });
      server.unreachable = undefined;
      server.handlers.set('cordon/configure', () => ({}));
      assert.ok((await environment.connect()).ok);
    });

    it('when the server does not take what it is told', async () => {
      server.handlers.set('cordon/configure', () => {
        throw new RpcError(errorCodes.internal, 'no');
      });
      const connected = await environment.connect();
      assert.ok(!connected.ok && environment.state.kind === 'failed');
      assert.equal(open, 0);
    });

    it('when it is closed before the server has answered', async () => {
      server.handlers.set('cordon/configure', () => {
        environment.dispose();
        return {};
      });
      assert.ok(!(await environment.connect()).ok);
      assert.equal(open, 0);
    });
  });
});
