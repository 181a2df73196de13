import assert from 'node:assert/strict';
import { importCodex } from '../../../../src/sandbox/importers/codex.ts';
import type { ImportedPolicy } from '../../../../src/sandbox/importers/importedPolicy.ts';

describe('importing the legacy sandbox mode of Codex', () => {
  it('takes folders and network along in workspace-write', () => {
    const [policy] = imported(`
      model = "example"
      approval_policy = "on-request"
      sandbox_mode = "workspace-write"
      [sandbox_workspace_write]
      writable_roots = ["/srv/builds", "~/.example-cache"]
      network_access = true
      exclude_slash_tmp = true
    `);
    assert.equal(policy?.isInUse, true);
    assert.deepEqual(policy?.settings, {
      mode: 'workspace-write',
      writableRoots: ['/srv/builds', '~/.example-cache'],
      network: 'on',
    });
    assert.deepEqual(whats(policy), [
      'sandbox_mode = "workspace-write"',
      '.git',
      '/tmp and $TMPDIR',
      'approval_policy',
    ]);
  });

  it('leaves folders and network of workspace-write out of the other modes', () => {
    const table = '[sandbox_workspace_write]\nwritable_roots = ["/srv"]\nnetwork_access = true';
    const [readOnly] = imported(`sandbox_mode = "read-only"\n${table}`);
    assert.deepEqual(readOnly?.settings, { mode: 'read-only', network: 'off' });
    const [open] = imported(`sandbox_mode = "danger-full-access"\n${table}`);
    assert.equal(open?.settings.mode, 'danger-full-access');
    assert.equal(open?.settings.writableRoots, undefined);
  });

  it('does not speak of the temporary folders when Codex excludes both', () => {
    const [policy] = imported(`
      sandbox_mode = "workspace-write"
      sandbox_workspace_write = { exclude_slash_tmp = true, exclude_tmpdir_env_var = true }
    `);
    assert.ok(!whats(policy).includes('/tmp and $TMPDIR'));
  });

  it('offers each configuration profile, the chosen one as in use', () => {
    const policies = imported(`
      profile = "review"
      sandbox_mode = "workspace-write"
      [profiles.review]
      sandbox_mode = "read-only"
      [profiles.fast]
      model = "example"
    `);
    assert.deepEqual(
      policies.map(({ name, isInUse }) => [name, isInUse]),
      [
        ['sandbox_mode', false],
        ['review', true],
      ],
    );
  });
});

describe('importing permission profiles of Codex', () => {
  it('takes a whole profile with all its tables', () => {
    const [policy] = imported(`
      default_permissions = "work"
      [permissions.work]
      description = "Everyday work"
      [permissions.work.workspace_roots]
      "~/code/shared" = true
      "~/code/old" = false
      [permissions.work.filesystem]
      ":minimal" = "read"
      ":slash_tmp" = "write"
      "/opt/toolchain" = "read"
      "~/.ssh" = "deny"
      glob_scan_max_depth = 3
      [permissions.work.filesystem.":workspace_roots"]
      "." = "write"
      "docs" = "read"
      "generated/**" = "deny"
      "**/*.env" = "none"
      ".vscode" = "read"
      [permissions.work.network]
      enabled = true
      allow_local_binding = true
      [permissions.work.network.domains]
      "**.example.org" = "allow"
      "Registry.Example.com:8443" = "allow"
      "tracker.example.org" = "deny"
      "a*.example.net" = "allow"
      [permissions.work.network.unix_sockets]
      "/run/example.sock" = "allow"
      "/run/other.sock" = "deny"
    `);
    assert.deepEqual(policy?.settings, {
      mode: 'workspace-write',
      writableRoots: ['~/code/shared'],
      files: {
        ':root': 'none',
        ':toolchains': 'none',
        ':minimal': 'read',
        docs: 'read',
        '~/code/shared/docs': 'read',
        generated: 'none',
        '~/code/shared/generated': 'none',
        '**/*.env': 'none',
        '~/code/shared/**/*.env': 'none',
        '/opt/toolchain': 'read',
        '~/.ssh': 'none',
      },
      network: 'allow-list',
      hosts: {
        'example.org': 'allow',
        '*.example.org': 'allow',
        'registry.example.com:8443': 'allow',
        'tracker.example.org': 'deny',
      },
      sockets: ['/run/example.sock'],
    });
    assert.deepEqual(whats(policy), [
      ':slash_tmp',
      'glob_scan_max_depth',
      '.git',
      'allow_local_binding',
      'allow a*.example.net',
    ]);
  });

  it('merges what a profile extends, table by table, and lets the child override', () => {
    const policies = imported(`
      default_permissions = "strict"
      [permissions.base]
      extends = ":workspace"
      [permissions.base.filesystem.":workspace_roots"]
      "secrets" = "deny"
      "docs" = "read"
      [permissions.strict]
      extends = "base"
      [permissions.strict.filesystem.":workspace_roots"]
      "." = "read"
      "docs" = "write"
      ".git" = "read"
    `);
    assert.deepEqual(policies.find(({ isInUse }) => isInUse)?.settings, {
      mode: 'workspace-write',
      git: 'read-only',
      files: { ':workspace': 'read', secrets: 'none', docs: 'write' },
      network: 'off',
    });
    assert.deepEqual(policies.find(({ name }) => name === 'base')?.settings, {
      mode: 'workspace-write',
      files: { secrets: 'none', docs: 'read' },
      network: 'off',
    });
  });

  it('knows the built-in profiles as defaults', () => {
    assert.deepEqual(imported('default_permissions = ":read-only"')[0]?.settings, {
      mode: 'read-only',
      files: { ':workspace': 'read' },
      network: 'off',
    });
    assert.deepEqual(imported('default_permissions = ":danger-full-access"')[0]?.settings, {
      mode: 'danger-full-access',
    });
  });

  it('keeps a profile that does not mention the workspace out of it', () => {
    const [policy] = imported('[permissions.a.filesystem]\n":minimal" = "read"\n"/srv/data" = "write"');
    assert.deepEqual(policy?.settings.files, {
      ':root': 'none',
      ':toolchains': 'none',
      ':minimal': 'read',
      ':workspace': 'none',
      '/srv/data': 'write',
    });
  });

  it('knows the older name of the workspace and re-opened folders below denied ones', () => {
    const [policy] = imported(`
      [permissions.a.filesystem]
      ":root" = "read"
      "~/Documents" = "deny"
      "~/Documents/example" = "write"
      [permissions.a.filesystem.":project_roots"]
      "." = "write"
      "private" = "none"
      "private/open" = "write"
    `);
    assert.deepEqual(policy?.settings.files, {
      private: 'none',
      'private/open': 'write',
      '~/Documents': 'none',
      '~/Documents/example': 'write',
    });
    assert.ok(whats(policy).includes('":root" = "read"'));
  });

  it('opens .git as the clause git, and other protected names not at all', () => {
    const [policy] = imported(`
      [permissions.a.filesystem.":workspace_roots"]
      "." = "write"
      ".git" = "write"
      ".vscode" = "write"
      ".git/hooks" = "write"
      ".codex" = "deny"
    `);
    assert.equal(policy?.settings.git, 'writable');
    assert.equal(policy?.settings.files?.['.codex'], 'none');
    assert.ok(!Object.keys(policy?.settings.files ?? {}).some((path) => /git|vscode/.test(path)));
    assert.ok(
      whats(policy).includes('".vscode" = "write"') && whats(policy).includes('".git/hooks" = "write"'),
    );
  });

  it('notes patterns that open, foreign paths and unknown places', () => {
    const [policy] = imported(`
      [permissions.a.filesystem]
      ":future" = "read"
      "C:\\\\work" = "write"
      [permissions.a.filesystem.":workspace_roots"]
      "." = "write"
      "*.log" = "read"
    `);
    assert.deepEqual(whats(policy).slice(0, 3), ['"C:\\work"', ':future', '"*.log" = "read"']);
    assert.ok(!Object.keys(policy?.settings.files ?? {}).some((path) => /log|work$/.test(path)));
  });

  it('does not mistake a domain list without network for access, nor network without a list for a limit', () => {
    const [off] = imported('[permissions.a.network.domains]\n"example.org" = "allow"');
    assert.equal(off?.settings.network, 'off');
    const [on] = imported('[permissions.a.network]\nenabled = true');
    assert.equal(on?.settings.network, 'on');
    const [none] = imported('[permissions.a.network]\nenabled = true\ndomains = {}');
    assert.equal(none?.settings.network, 'allow-list');
  });

  it('says that it cannot limit methods', () => {
    const [policy] = imported('[permissions.a.network]\nenabled = true\nmode = "limited"\ndomains = {}');
    assert.ok(whats(policy).includes('mode = "limited"'));
  });

  it('is not in use while a sandbox mode is set, as in Codex', () => {
    const policies = imported(`
      sandbox_mode = "read-only"
      default_permissions = "a"
      [permissions.a.filesystem]
      ":root" = "read"
    `);
    assert.deepEqual(
      policies.map(({ name, isInUse }) => [name, isInUse]),
      [
        ['sandbox_mode', true],
        ['a', false],
      ],
    );
  });
});

describe('importing the environment policy of Codex', () => {
  it('takes every field along, and only those that are set', () => {
    const [policy] = imported(`
      sandbox_mode = "read-only"
      [shell_environment_policy]
      inherit = "all"
      ignore_default_excludes = false
      exclude = ["AWS_*"]
      set = { CI = "1" }
      include_only = ["PATH", "CI"]
      experimental_use_profile = true
    `);
    assert.deepEqual(policy?.settings.environment, {
      inherit: 'all',
      ignoreDefaultExcludes: false,
      exclude: ['AWS_*'],
      set: { CI: '1' },
      includeOnly: ['PATH', 'CI'],
    });
    assert.ok(whats(policy).includes('experimental_use_profile'));
    const [sparse] = imported('sandbox_mode = "read-only"\nshell_environment_policy = { inherit = "none" }');
    assert.deepEqual(sparse?.settings.environment, { inherit: 'none' });
  });
});

describe('a Codex file that cannot be imported', () => {
  const cases: readonly (readonly [why: string, text: string, message: RegExp])[] = [
    ['is no TOML', 'sandbox_mode = ', /not valid TOML \(line 1, column \d+\)/],
    ['has an unknown mode', 'sandbox_mode = "safe"', /sandbox_mode/],
    ['has an unknown access', '[permissions.a.filesystem]\n"/x" = "maybe"', /permissions\.a\.filesystem/],
    ['names a profile that is not there', 'default_permissions = "gone"', /"gone" is not defined/],
    ['has a circle', '[permissions.a]\nextends = "b"\n[permissions.b]\nextends = "a"', /extends itself/],
    ['extends full access', '[permissions.a]\nextends = ":danger-full-access"', /not defined/],
  ];
  for (const [why, text, message] of cases) {
    it(`${why}: is an error that names the place`, () => {
      const result = importCodex(text);
      assert.match(result.ok ? 'ok' : result.error.message, message);
    });
  }

  it('is no error when it only says nothing about confinement', () => {
    assert.deepEqual(imported('model = "example"'), []);
  });
});

function imported(text: string): readonly ImportedPolicy[] {
  const result = importCodex(text);
  assert.ok(result.ok, result.ok ? '' : result.error.message);
  return result.value;
}

function whats(policy: ImportedPolicy | undefined): readonly string[] {
  return (policy?.notes ?? []).map(({ what }) => what);
}
