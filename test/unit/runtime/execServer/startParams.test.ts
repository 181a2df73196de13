import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import type { StartParams } from '../../../../src/runtime/exec/execBackend.ts';
import type { ExecClient } from '../../../../src/runtime/execServer/client/execClient.ts';
import { startParamsFor } from '../../../../src/runtime/execServer/client/startParams.ts';
import { TunnelledConnection } from '../../../../src/runtime/execServer/client/tunnelledConnection.ts';
import type { Door } from '../../../../src/sandbox/sandboxManager.ts';
import { testPolicy } from '../../../harness/testRuntime.ts';

const client = (isCordon: boolean): ExecClient =>
  ({ isCordon, call: async () => ({}) }) as unknown as ExecClient;
const door = (...restricted: readonly string[]): Door => ({
  programs: ['git', 'npm'],
  restricted,
  accept: () => {},
});

describe('a start for an exec-server', () => {
  const params: StartParams = { argv: ['true'], cwd: '/', env: {}, policy: testPolicy('/tmp') };
  const ask = (on: ExecClient, more: Partial<StartParams>) => startParamsFor(on, '1', { ...params, ...more });

  it('is refused where a program that a rule speaks of would run unasked', () => {
    const refused = ask(client(false), { door: door('git', 'npm'), environment: 'lab' });
    assert.match(refused.ok ? '' : refused.error.message, /git, npm .* exec-server of lab has no way to ask/);
    assert.equal(ask(client(false), { door: door() }).ok, true);
    const own = ask(client(true), { door: door('git') });
    assert.deepEqual(own.ok && own.value.cordon?.door, { programs: ['git', 'npm'] });
  });

  it('takes its streams from a connection of the same session only', () => {
    const own = client(true);
    const streams = new TunnelledConnection(own, 'connection');
    const taken = ask(own, { streams });
    assert.equal(taken.ok && taken.value.cordon?.streams, 'connection');
    assert.equal(ask(client(true), { streams }).ok, false);
    assert.equal(ask(own, { streams: new PassThrough() }).ok, false);
  });
});
