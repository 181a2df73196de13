import assert from 'node:assert/strict';
import type { ImportedPolicy } from '../../../../src/sandbox/importers/importedPolicy.ts';
import { importVscode, vscodeSettingNames } from '../../../../src/sandbox/importers/vscode.ts';

describe('importing the terminal sandbox of the editor', () => {
  it('takes the lists of this platform and the domains along', () => {
    const policy = imported({
      'chat.agent.sandbox.enabled': 'on',
      'chat.agent.sandbox.fileSystem.linux': {
        allowWrite: ['.', '~/.cache/example'],
        denyWrite: ['./config/', '.'],
        denyRead: ['~/.ssh', './secrets'],
        allowRead: ['~/tools'],
      },
      'chat.agent.sandbox.fileSystem.mac': { allowWrite: ['/never'] },
      'chat.agent.networkFilter': true,
      'chat.agent.allowedNetworkDomains': ['*.example.org', 'http://localhost:3000'],
      'chat.agent.deniedNetworkDomains': ['ads.example.org'],
      'chat.agent.sandbox.allowUnsandboxedCommands': true,
      'chat.tools.terminal.autoApprove': { ls: true },
    });
    assert.equal(policy.isInUse, true);
    assert.deepEqual(policy.settings, {
      mode: 'workspace-write',
      writableRoots: ['~/.cache/example'],
      files: {
        ':workspace': 'read',
        '~/tools': 'read',
        './config': 'read',
        '~/.ssh': 'none',
        './secrets': 'none',
      },
      network: 'allow-list',
      hosts: { '*.example.org': 'allow', 'localhost:3000': 'allow', 'ads.example.org': 'deny' },
    });
    assert.deepEqual(whats(policy), [
      'chat.agent.sandbox.allowUnsandboxedCommands',
      'chat.tools.terminal.autoApprove',
    ]);
  });

  it('knows the lists for all platforms: denied outranks read-only, which outranks writable', () => {
    const policy = imported({
      'chat.agent.sandbox.enabled': true,
      'chat.agent.sandbox.fileSystem.userConfiguredPaths': {
        readwritePaths: ['/srv/a', '/srv/b', '/srv/c'],
        readonlyPaths: ['/srv/b', '/srv/c', '/srv/d'],
        deniedPaths: ['/srv/c'],
      },
      'chat.agent.sandbox.network.allowNetwork': false,
    });
    assert.deepEqual(policy.settings, {
      mode: 'workspace-write',
      writableRoots: ['/srv/a'],
      files: { '/srv/b': 'read', '/srv/c': 'none', '/srv/d': 'read' },
      network: 'off',
    });
  });

  it('says open network in both spellings, unless domains limit it', () => {
    assert.equal(imported({ 'chat.agent.sandbox.enabled': 'allowNetwork' }).settings.network, 'on');
    assert.equal(imported({ 'chat.agent.sandbox.network.allowNetwork': true }).settings.network, 'on');
    const limited = imported({
      'chat.agent.sandbox.network.allowNetwork': true,
      'chat.agent.sandbox.network.allowedDomains': ['example.org'],
    });
    assert.equal(limited.settings.network, 'allow-list');
  });

  it('leaves the network alone where nothing is set', () => {
    const policy = imported({ 'chat.agent.sandbox.enabled': 'on' });
    assert.equal(policy.settings.network, undefined);
    assert.ok(whats(policy).includes('chat.agent.sandbox.network.allowNetwork'));
  });

  it('does not turn a sandbox that is off into full access', () => {
    const policy = imported({ 'chat.agent.sandbox.enabled': 'off' });
    assert.equal(policy.isInUse, false);
    assert.deepEqual(policy.settings, {});
  });

  it('is empty when nothing is set, and names a value that is not valid', () => {
    const unset = Object.fromEntries(vscodeSettingNames.map((name) => [name, undefined]));
    assert.deepEqual(importVscode(unset, machine), { ok: true, value: [] });
    const wrong = importVscode({ 'chat.agent.allowedNetworkDomains': 'example.org' }, machine);
    assert.match(wrong.ok ? 'ok' : wrong.error.message, /chat\.agent\.allowedNetworkDomains is not valid/);
  });
});

const machine = { homeDir: '/home/person', platform: 'linux' } as const;

function imported(settings: Readonly<Record<string, unknown>>): ImportedPolicy {
  const result = importVscode(settings, machine);
  assert.ok(result.ok, result.ok ? '' : result.error.message);
  const [policy] = result.value;
  assert.ok(policy !== undefined);
  return policy;
}

function whats({ notes }: ImportedPolicy): readonly string[] {
  return notes.map(({ what }) => what);
}
