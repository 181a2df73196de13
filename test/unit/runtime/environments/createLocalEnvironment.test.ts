import assert from 'node:assert/strict';
import { silentLog } from '../../../../src/base/log.ts';
import { createLocalEnvironment } from '../../../../src/runtime/environments/local/createLocalEnvironment.ts';
import type { ThisMachine } from '../../../../src/runtime/environments/local/inProcessEnvironment.ts';
import { ServerRecords } from '../../../../src/runtime/environments/local/serverRecords.ts';
import type { StartParams } from '../../../../src/runtime/exec/execBackend.ts';

describe('this machine', () => {
  const refusal = (message: string) =>
    ({ ok: false, error: { kind: 'spawn-failed', message, hint: '' } }) as const;
  const machineOn = (platform: NodeJS.Platform): ThisMachine =>
    createLocalEnvironment({
      ...{ platform, version: '1.2', log: silentLog, program: '/missing/cli.js', environment: {} },
      records: new ServerRecords({ get: () => undefined, update: async () => {} }),
      runtimeFolder: () => ({ ok: false, error: { message: 'in a server', hint: '' } }),
      configuration: () => ({ untrustedFolders: [], trustedPaths: [], upstream: undefined }),
      inProcess: async () => ({ start: async () => refusal('in this program') }),
    });
  const params: StartParams = { argv: ['true'], cwd: '/', env: {} } as unknown as StartParams;

  for (const platform of ['linux', 'darwin'] as const) {
    it(`runs commands in a server on ${platform}`, async () => {
      const machine = machineOn(platform);
      assert.deepEqual(await machine.backend.start(params), refusal('in a server'));
      assert.equal(machine.state.kind, 'failed');
      machine.dispose();
    });
  }

  it('runs commands in this program on Windows, where it needs no connection and has none', async () => {
    const machine = machineOn('win32');
    machine.prewarm();
    await machine.configure();
    assert.deepEqual(await machine.backend.start(params), refusal('in this program'));
    assert.deepEqual(machine.state, { kind: 'connected', version: '1.2' });
    assert.ok(!(await machine.connect()).ok);
    assert.equal('found' in machine.backend, false);
    machine.dispose();
  });
});
