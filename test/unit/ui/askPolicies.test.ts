import assert from 'node:assert/strict';
import { Emitter } from '../../../src/base/event.ts';
import { silentLog } from '../../../src/base/log.ts';
import { fail, ok } from '../../../src/base/result.ts';
import type { Environment, EnvironmentState } from '../../../src/runtime/environments/environment.ts';
import { RemotePolicies } from '../../../src/runtime/machines/remotePolicies.ts';
import type { RootSettings } from '../../../src/runtime/roots.ts';
import { askPolicies } from '../../../src/ui/environments/askPolicies.ts';
import { policyOf } from '../../harness/policyOf.ts';

describe('what commands may do on another machine', () => {
  const root = { name: 'project', path: '/w', environment: 'build' };
  let state: EnvironmentState;
  let settings: RootSettings;
  let asked: number;
  let isRefused: boolean;

  const setUp = () => {
    const changed = new Emitter<void>();
    const remote = new RemotePolicies();
    askPolicies({
      environments: {
        onDidChange: changed.event,
        get: (name) => ok({ name, state } as unknown as Environment),
      },
      policies: {
        list: () => [root, { name: 'here', path: '/h' }],
        policyFor: (of) => remote.policyFor(of, settings, []),
        onDidChange: remote.onDidChange,
      },
      async ask() {
        asked++;
        const error = { field: 'cordon.sandbox.files', message: 'Wrong there.', hint: 'Correct it.' };
        remote.keep(root, settings, isRefused ? fail(error) : ok(policyOf('/srv')));
      },
      log: silentLog,
    });
    return { changed, remote };
  };

  beforeEach(() => {
    state = { kind: 'connected', version: '1' };
    settings = { isTrusted: true, user: {}, widenings: [] };
    asked = 0;
    isRefused = false;
  });

  it('is asked once there is a connection, and again after a change of the settings', async () => {
    state = { kind: 'connecting' };
    const { changed, remote } = setUp();
    changed.fire();
    assert.equal(asked, 0);
    state = { kind: 'connected', version: '1' };
    changed.fire();
    changed.fire();
    await Promise.resolve();
    changed.fire();
    assert.equal(asked, 1);
    assert.ok(remote.policyFor(root, settings, []).ok);
    settings = { ...settings, isTrusted: false };
    changed.fire();
    assert.equal(asked, 2);
  });

  it('is known to be refused, too', async () => {
    isRefused = true;
    const { changed, remote } = setUp();
    changed.fire();
    await Promise.resolve();
    changed.fire();
    assert.equal(asked, 1);
    const known = remote.policyFor(root, settings, []);
    assert.equal(known.ok ? '' : known.error.message, 'Wrong there.');
  });
});
