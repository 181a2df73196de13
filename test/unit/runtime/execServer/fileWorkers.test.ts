import assert from 'node:assert/strict';
import { silentLog } from '../../../../src/base/log.ts';
import { ok } from '../../../../src/base/result.ts';
import { FileWorkers } from '../../../../src/runtime/execServer/services/files/worker/fileWorkers.ts';
import type { Launch, SandboxManager } from '../../../../src/sandbox/sandboxManager.ts';
import { policyOf } from '../../../harness/policyOf.ts';

describe('The workers for file calls', () => {
  /** Calls twice, and tells how often a sandbox was asked for. */
  async function attempts(transform: () => ReturnType<SandboxManager['transform']>): Promise<number> {
    let count = 0;
    const sandbox = {
      transform: () => {
        count++;
        return transform();
      },
    } as unknown as SandboxManager;
    const workers = new FileWorkers(
      () => ({
        sandbox,
        argv: ['node'],
        facts: { temporaryFolders: [], trustedPaths: [] },
        log: silentLog,
        idleMs: 60_000,
      }),
      { missingChanged: () => {}, ended: () => {} },
    );
    const call = (): Promise<unknown> =>
      workers.of(policyOf('/')).call('fs/readFile', { path: 'file:///x', followSymlinks: true });
    await assert.rejects(call());
    await assert.rejects(call());
    workers.dispose();
    return count;
  }

  it('are started anew after one that could not be', async () => {
    assert.equal(await attempts(() => Promise.reject(new Error('no memory'))), 2);
  });

  it('leave nothing of a sandbox whose program cannot be started', async () => {
    let released = 0;
    const launch = {
      ...{ owner: [], argv: ['node\0'], cwd: '/', env: {}, sandbox: 'none' },
      release: async () => void released++,
    } as unknown as Launch;
    assert.equal(await attempts(async () => ok(launch)), 2);
    assert.equal(released, 2);
  });
});
