import assert from 'node:assert/strict';
import {
  networkModes,
  sandboxModes,
  tmpModes,
  writableRoots,
} from '../../../../src/sandbox/policy/policy.ts';
import type { SandboxPolicy } from '../../../../src/sandbox/policy/policy.ts';
import { defaultFiles } from '../../../../src/sandbox/policy/defaults.ts';
import type { Access } from '../../../../src/sandbox/policy/fileRules.ts';
import { accessTo } from '../../../../src/sandbox/policy/fileRules.ts';
import type { PolicyInput } from '../../../../src/sandbox/policy/input.ts';
import { resolvePolicy } from '../../../../src/sandbox/policy/resolve.ts';
import { bareMachine, policyOf } from '../../../harness/policyOf.ts';

const base: PolicyInput = {
  ...bareMachine,
  root: '/srv/project',
  isTrusted: true,
  user: {},
  canonicalize: (path) => (path.includes('missing') ? undefined : path.replace('/link', '/target')),
};

function resolve(input: Partial<PolicyInput>): SandboxPolicy {
  const result = resolvePolicy({ ...base, ...input });
  assert.ok(result.ok, result.ok ? '' : result.error.message);
  return result.value;
}

function complain(input: Partial<PolicyInput>): { field: string; message: string; hint: string } {
  const result = resolvePolicy({ ...base, ...input });
  assert.ok(!result.ok);
  return result.error;
}

const withUnset = <T>(values: readonly T[]): readonly (T | undefined)[] => [undefined, ...values];

describe('resolvePolicy()', () => {
  it('defaults to workspace-write, no network, private tmp and caches, core variables, limits, a hidden home', () => {
    const policy = resolve({});
    const { files, hidden, ...rest } = policyOf('/srv/project', {
      git: 'commands',
      caches: 'private',
      limits: { processes: 4096, memoryMiB: 8_000, fileSizeMiB: 32_768 },
    });
    assert.deepEqual({ ...policy, files, hidden }, { ...rest, files, hidden });
    const expected: Readonly<Record<string, Access>> = {
      '/srv/project/src/a': 'write',
      '/usr/lib/x': 'read',
      '/etc/shadow': 'none',
      '/home/ann/notes': 'none',
      '/home/bob': 'none',
      '/root/x': 'none',
      '/srv/project/.env': 'none',
      '/srv/project/a/.env.local': 'none',
      '/srv/project/a/.env.production.local': 'none',
      '/srv/project/.env.example': 'write',
      '/srv/project/.env.test': 'write',
      '/srv/project/.envrc': 'write',
      '/srv/project/keys/id_ed25519': 'none',
      '/srv/project/keys/id_ed25519.pub': 'write',
      '/srv/project/tls/server.pem': 'write',
      '/srv/project/.netrc': 'none',
      '/srv/project/.npmrc': 'write',
      '/srv/project/vault.kdbx': 'none',
    };
    const given = Object.keys(expected).map((path) => [path, accessTo(policy, path)]);
    assert.deepEqual(Object.fromEntries(given), expected);
  });

  it('lets the person lift each default by a rule of the same name', () => {
    const lifted = Object.fromEntries(Object.keys(defaultFiles).map((key) => [key, 'read']));
    const { files, hidden } = resolve({ user: { files: lifted } });
    assert.ok(files.every(({ access }) => access === 'read'));
    assert.deepEqual(hidden, []);
  });

  it('takes the choice for the root instead of the user setting, in both directions', () => {
    const wider = resolve({
      user: { mode: 'read-only', network: 'off' },
      grant: { mode: 'workspace-write', network: 'on' },
    });
    assert.deepEqual([wider.mode, wider.network, wider.sources.mode], ['workspace-write', 'on', 'grant']);
    const narrower = resolve({ user: { mode: 'danger-full-access' }, grant: { mode: 'read-only' } });
    assert.deepEqual([narrower.mode, narrower.network], ['read-only', 'off']);
  });

  it('never lets the workspace loosen anything, over all combinations', () => {
    let combinations = 0;
    for (const isTrusted of [true, false])
      for (const mode of withUnset(sandboxModes))
        for (const network of withUnset(networkModes))
          for (const tmp of withUnset(tmpModes))
            for (const grantMode of withUnset(sandboxModes))
              for (const grantNetwork of withUnset(networkModes)) {
                const owner = {
                  isTrusted,
                  user: { mode, network, tmp },
                  grant: { mode: grantMode, network: grantNetwork },
                };
                const without = resolve(owner);
                for (const ownMode of withUnset(sandboxModes))
                  for (const ownNetwork of withUnset(networkModes))
                    for (const ownTmp of withUnset(tmpModes)) {
                      const workspace = {
                        mode: ownMode,
                        network: ownNetwork,
                        tmp: ownTmp,
                        writableRoots: ['/'],
                        environment: { inherit: 'all', set: { LD_PRELOAD: '/x' } },
                      };
                      const policy = resolve({ ...owner, workspace });
                      combinations += 1;
                      assert.ok(sandboxModes.indexOf(policy.mode) <= sandboxModes.indexOf(without.mode));
                      assert.ok(
                        networkModes.indexOf(policy.network) <= networkModes.indexOf(without.network),
                      );
                      assert.ok(tmpModes.indexOf(policy.tmp) <= tmpModes.indexOf(without.tmp));
                      assert.deepEqual(
                        writableRoots(policy),
                        policy.mode === 'read-only' ? [] : writableRoots(without),
                      );
                      assert.deepEqual(policy.environment, without.environment);
                      if (ownMode !== undefined) {
                        assert.ok(sandboxModes.indexOf(policy.mode) <= sandboxModes.indexOf(ownMode));
                      }
                    }
              }
    assert.equal(combinations, 2 * 4 * 4 * 3 * 4 * 4 * (4 * 4 * 3));
  });

  it('lets the workspace narrow, and says that it did', () => {
    const policy = resolve({
      user: { mode: 'danger-full-access', network: 'on', tmp: 'shared' },
      workspace: { mode: 'read-only', network: 'off', tmp: 'private' },
    });
    assert.deepEqual([policy.mode, policy.network, policy.tmp], ['read-only', 'off', 'private']);
    assert.deepEqual(
      [policy.sources.mode, policy.sources.network, policy.sources.tmp],
      ['workspace', 'workspace', 'workspace'],
    );
  });

  it('makes an untrusted workspace read-only without network, whatever else says', () => {
    const policy = resolve({
      isTrusted: false,
      user: { mode: 'danger-full-access', network: 'on', tmp: 'shared' },
      grant: { mode: 'danger-full-access', network: 'on' },
    });
    assert.deepEqual([policy.mode, policy.network, policy.tmp], ['read-only', 'off', 'private']);
    assert.equal(policy.sources.mode, 'untrusted');
  });

  it('has network and tmp open under danger-full-access, which confines nothing', () => {
    const policy = resolve({ user: { mode: 'danger-full-access', network: 'off', tmp: 'private' } });
    assert.deepEqual([policy.network, policy.tmp, policy.sources.network], ['on', 'shared', 'user']);
  });

  it('expands, canonicalizes and deduplicates writable roots and drops missing ones', () => {
    const policy = resolve({
      user: { writableRoots: ['~/cache', '~', '/opt/link', '/opt/missing', '/srv/project', '/a/../b'] },
    });
    assert.deepEqual(writableRoots(policy), [
      '/srv/project',
      '/home/ann',
      '/home/ann/cache',
      '/opt/target',
      '/b',
    ]);
    assert.equal(policy.sources.writableRoots, 'user');
  });

  it('completes a partial environment setting', () => {
    const policy = resolve({ user: { environment: { inherit: 'all', set: { A: '1' } } } });
    assert.deepEqual(policy.environment, {
      inherit: 'all',
      ignoreDefaultExcludes: false,
      exclude: [],
      set: { A: '1' },
      includeOnly: [],
    });
  });

  const badValues: readonly (readonly [string, Partial<PolicyInput>, string, RegExp])[] = [
    ['a misspelt mode', { user: { mode: 'readonly' } }, 'cordon.sandbox.mode', /"readonly".*"read-only"/],
    ['a mode of another type', { user: { mode: 3 } }, 'cordon.sandbox.mode', /is 3 in/],
    ['null', { user: { network: null } }, 'cordon.sandbox.network', /is null in/],
    ['a bad grant', { grant: { network: 'maybe' } }, 'cordon.sandbox.network', /choice made for this root/],
    ['a bad workspace value', { workspace: { tmp: 'x' } }, 'cordon.sandbox.tmp', /workspace settings/],
    [
      'roots that are no list',
      { user: { writableRoots: '/a' } },
      'cordon.sandbox.writableRoots',
      /is "\/a" in/,
    ],
    [
      'a relative root',
      { user: { writableRoots: ['/a', 'b'] } },
      'cordon.sandbox.writableRoots',
      /is "b" in/,
    ],
    [
      'another user home',
      { user: { writableRoots: ['~bob/x'] } },
      'cordon.sandbox.writableRoots',
      /"~bob\/x"/,
    ],
    [
      'a bad inherit',
      { user: { environment: { inherit: 'some' } } },
      'cordon.sandbox.environment.inherit',
      /is "some" in the user settings, but must be one of "all"/,
    ],
    ['an unknown field', { user: { environment: { keep: [] } } }, 'cordon.sandbox.environment', /keep/],
  ];
  for (const [what, input, field, message] of badValues) {
    it(`refuses ${what} and names ${field}`, () => {
      const error = complain(input);
      assert.equal(error.field, field);
      assert.match(error.message, message);
      assert.notEqual(error.hint, '');
    });
  }
});
