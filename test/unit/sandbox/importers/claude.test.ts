import assert from 'node:assert/strict';
import { importClaude } from '../../../../src/sandbox/importers/claude.ts';
import type { ImportedPolicy } from '../../../../src/sandbox/importers/importedPolicy.ts';

describe('importing the sandbox of Claude Code', () => {
  it('takes files, hosts, sockets and credentials along', () => {
    const policy = imported({
      sandbox: {
        enabled: true,
        autoAllowBashIfSandboxed: true,
        excludedCommands: ['docker *'],
        filesystem: {
          allowWrite: ['/srv/build/', '~/.kube', '//opt/older'],
          denyWrite: ['/srv/build/locked'],
          denyRead: ['~/.aws', '~/**/*.pem'],
          allowRead: ['~/.aws/config'],
        },
        network: {
          allowedDomains: ['example.org', '*.example.com:443'],
          deniedDomains: ['uploads.example.org'],
          allowUnixSockets: ['~/.example/agent.sock'],
          allowLocalBinding: true,
        },
        credentials: {
          files: [{ path: '~/.netrc', mode: 'deny' }],
          envVars: [{ name: 'EXAMPLE_TOKEN', mode: 'deny' }],
        },
      },
    });
    assert.equal(policy.isInUse, true);
    assert.deepEqual(policy.settings, {
      mode: 'workspace-write',
      writableRoots: ['/srv/build', '~/.kube', '/opt/older'],
      files: {
        '~/**/*.pem': 'none',
        '~/.aws/config': 'read',
        '/srv/build/locked': 'read',
        '~/.aws': 'none',
        '~/.netrc': 'none',
      },
      network: 'allow-list',
      hosts: { 'example.org': 'allow', '*.example.com:443': 'allow', 'uploads.example.org': 'deny' },
      sockets: ['/home/person/.example/agent.sock'],
      environment: { exclude: ['EXAMPLE_TOKEN'] },
    });
    assert.deepEqual(whats(policy), [
      'sandbox.autoAllowBashIfSandboxed',
      'sandbox.excludedCommands',
      'sandbox.network.allowLocalBinding',
    ]);
  });

  it('merges the rules for files and domains, in their own language of paths', () => {
    const policy = imported({
      permissions: {
        allow: ['Edit(//srv/out/**)', 'WebFetch(domain:example.org)', 'Bash(npm run *)', 'Read(~/notes/**)'],
        ask: ['Bash(git push *)'],
        deny: [
          'Read(./.env)',
          'Read(secrets/**)',
          'Read(*.key)',
          'Read(~/.ssh/**)',
          'Read(/build)',
          'Edit(./package-lock.json)',
          'WebFetch(domain:ads.example.org)',
          'Bash(curl *)',
          'Read',
        ],
      },
    });
    assert.deepEqual(policy.settings, {
      writableRoots: ['/srv/out'],
      files: {
        '**/*.key': 'none',
        'package-lock.json': 'read',
        '.env': 'none',
        secrets: 'none',
        '~/.ssh': 'none',
      },
      network: 'allow-list',
      hosts: { 'example.org': 'allow', 'ads.example.org': 'deny' },
    });
    assert.ok(whats(policy).includes('permissions.deny Read(/build)'));
    assert.ok(whats(policy).includes('permissions.deny: Bash(curl *), Read'));
    assert.ok(whats(policy).includes('permissions.allow: Read(~/notes/**)'));
  });

  it('does not open what Cordon hides because Claude Code protects it from writing', () => {
    const policy = imported({ sandbox: { enabled: true, filesystem: { denyWrite: ['~/.bashrc', '/etc'] } } });
    assert.equal(policy.settings.files, undefined);
    assert.deepEqual(whats(policy), ['denyWrite ~/.bashrc', 'denyWrite /etc']);
  });

  it('lets a deny that is deeper than an allow stand, and an allow at the same path win for reading', () => {
    const policy = imported({
      sandbox: {
        enabled: true,
        filesystem: {
          denyRead: ['~/data', '~/data/open/secret', '~/same'],
          allowRead: ['~/data/open', '~/same'],
          allowWrite: ['~/data/open/secret/out'],
        },
      },
    });
    assert.deepEqual(policy.settings.files, {
      '~/data/open/secret/out': 'none',
      '~/data/open': 'read',
      '~/same': 'read',
      '~/data': 'none',
      '~/data/open/secret': 'none',
    });
    assert.equal(policy.settings.writableRoots, undefined);
  });

  it('protects relative paths of the own folder and never opens them', () => {
    const policy = imported({
      sandbox: { enabled: true, filesystem: { allowWrite: ['./hooks', '.'], denyRead: ['./projects'] } },
    });
    assert.deepEqual(policy.settings.files, { '~/.claude/projects': 'none' });
    assert.equal(policy.settings.writableRoots, undefined);
    assert.deepEqual(whats(policy), ['allowWrite ./hooks', 'allowWrite .']);
  });

  it('does not turn a sandbox that is off into full access', () => {
    const policy = imported({ sandbox: { enabled: false, network: { allowedDomains: ['example.org'] } } });
    assert.equal(policy.isInUse, false);
    assert.equal(policy.settings.mode, undefined);
    assert.ok(whats(policy).includes('sandbox.enabled'));
  });

  it('reads comments and trailing commas', () => {
    const result = importClaude('{ // mine\n "sandbox": { "enabled": true, }, }', {
      homeDir: '/home/person',
    });
    assert.ok(result.ok && result.value[0]?.isInUse);
  });

  it('is empty for a file about other things', () => {
    const result = importClaude('{"model": "example"}', { homeDir: '/home/person' });
    assert.deepEqual(result.ok && result.value, []);
  });

  for (const [text, message] of [
    ['{\n"sandbox": ', /not valid JSON \(line 2\)/],
    ['{"sandbox": {"enabled": "yes"}}', /sandbox\.enabled/],
    ['[]', /not what Claude Code expects/],
  ] as const) {
    it(`names what is wrong with ${JSON.stringify(text)}`, () => {
      const result = importClaude(text, { homeDir: '/home/person' });
      assert.match(result.ok ? 'ok' : result.error.message, message);
    });
  }
});

function imported(settings: unknown): ImportedPolicy {
  const result = importClaude(JSON.stringify(settings), { homeDir: '/home/person' });
  assert.ok(result.ok, result.ok ? '' : result.error.message);
  const [policy] = result.value;
  assert.ok(policy !== undefined);
  return policy;
}

function whats({ notes }: ImportedPolicy): readonly string[] {
  return notes.map(({ what }) => what);
}
