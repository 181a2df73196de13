import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { ensureCodex } from '../../scripts/codex.mjs';
import { importCodex } from '../../src/sandbox/importers/codex.ts';
import { accessTo } from '../../src/sandbox/policy/fileRules.ts';
import type { Access } from '../../src/sandbox/policy/fileRules.ts';
import { nodeMachine } from '../../src/sandbox/policy/nodeMachine.ts';
import { resolvePolicy } from '../../src/sandbox/policy/resolve.ts';

/** A profile of Codex and what commands may do with files under it, in the binary as in the import. */
interface Case {
  readonly name: string;
  readonly profile: string;
  readonly config: string;
  /** By file, relative to the folder that holds `workspace`, `extra` and `home`. */
  readonly expected: Readonly<Record<string, Access>>;
}

const cases: readonly Case[] = [
  {
    name: 'a profile that extends another, with folders of its own, denied paths and patterns',
    profile: 'tight',
    config: `
      default_permissions = "tight"
      [permissions.base]
      extends = ":workspace"
      [permissions.base.filesystem.":workspace_roots"]
      "**/*.env" = "deny"
      [permissions.tight]
      extends = "base"
      [permissions.tight.workspace_roots]
      "FOLDER/extra" = true
      [permissions.tight.filesystem]
      glob_scan_max_depth = 4
      "~/Documents" = "none"
      "~/Documents/open" = "write"
      [permissions.tight.filesystem.":workspace_roots"]
      "docs" = "read"
      "secret" = "deny"
      "secret/open" = "write"
    `,
    expected: {
      'workspace/file': 'write',
      'workspace/docs/file': 'read',
      'workspace/secret/file': 'none',
      'workspace/secret/open/file': 'write',
      'workspace/sub/a.env': 'none',
      'extra/file': 'write',
      'extra/docs/file': 'read',
      'home/Documents/file': 'none',
      'home/Documents/open/file': 'write',
    },
  },
  {
    name: 'a profile that does not read the disk',
    profile: 'narrow',
    config: `
      default_permissions = "narrow"
      [permissions.narrow.filesystem]
      ":minimal" = "read"
      # Its own helper, without which Codex starts nothing.
      "~/.codex/tmp" = "read"
      "PROGRAM" = "read"
      "FOLDER/extra" = "write"
      [permissions.narrow.filesystem.":workspace_roots"]
      "." = "read"
      "out/**" = "write"
    `,
    expected: {
      'workspace/file': 'read',
      'workspace/out/file': 'write',
      'extra/file': 'write',
      'home/other': 'none',
    },
  },
  {
    name: 'the built-in profile for reading',
    profile: ':read-only',
    config: 'default_permissions = ":read-only"',
    expected: { 'workspace/file': 'read', 'workspace/docs/file': 'read' },
  },
  {
    name: 'the built-in profile for a workspace',
    profile: ':workspace',
    config: 'default_permissions = ":workspace"',
    expected: { 'workspace/file': 'write', 'workspace/docs/file': 'write' },
  },
];

describe('policies of Codex: the binary and the import', () => {
  let codex: string;
  let folder: string;

  before(async function () {
    this.timeout(600_000);
    codex = await ensureCodex();
    // Codex does not start with its own folder in a temporary one.
    folder = mkdtempSync(join(homedir(), '.cordon-interop-'));
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const { name, profile, config, expected } of cases) {
    it(`agree about ${name}`, function () {
      this.timeout(60_000);
      const text = config.replaceAll('FOLDER', folder).replaceAll('PROGRAM', dirname(codex));
      for (const path of Object.keys(expected)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        writeFileSync(join(folder, path), 'text');
      }
      assert.deepEqual(accessInCodex(codex, folder, profile, text, Object.keys(expected)), expected, 'Codex');
      assert.deepEqual(accessInImport(folder, profile, text, Object.keys(expected)), expected, 'the import');
    });
  }
});

type Accesses = Readonly<Record<string, Access>>;

function accessInCodex(
  codex: string,
  folder: string,
  profile: string,
  config: string,
  paths: readonly string[],
): Accesses {
  const home = join(folder, 'home');
  mkdirSync(join(home, '.codex'), { recursive: true });
  writeFileSync(join(home, '.codex', 'config.toml'), config);
  const script =
    'for p; do r=-; w=-; cat "$p" && r=r; test -e "$p" && : >> "$p" && w=w; echo "$p $r$w" >&3; done';
  const { status, stdout, stderr } = spawnSync(
    codex,
    [
      ...['sandbox', '-P', profile, '-C', join(folder, 'workspace'), '--', 'bash', '-c'],
      ...[`{ ${script}; } 3>&1 >/dev/null 2>/dev/null`, 'bash', ...paths.map((path) => join(folder, path))],
    ],
    { encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: home, CODEX_HOME: join(home, '.codex') } },
  );
  assert.equal(status, 0, stderr);
  const words: Readonly<Record<string, Access>> = { '--': 'none', 'r-': 'read', rw: 'write' };
  return Object.fromEntries(
    stdout
      .trim()
      .split('\n')
      .map((line) => {
        const [path = '', seen = ''] = line.split(' ');
        return [path.slice(folder.length + 1), words[seen] ?? assert.fail(line)];
      }),
  );
}

function accessInImport(folder: string, profile: string, config: string, paths: readonly string[]): Accesses {
  const imported = importCodex(config);
  assert.ok(imported.ok, imported.ok ? '' : imported.error.message);
  const found = imported.value.find(({ name }) => name === profile);
  const policy = resolvePolicy({
    ...nodeMachine(),
    homeDir: join(folder, 'home'),
    root: join(folder, 'workspace'),
    isTrusted: true,
    user: {},
    profile,
    profiles: { [profile]: found?.settings },
  });
  assert.ok(policy.ok, policy.ok ? '' : policy.error.message);
  const rules = policy.value;
  return Object.fromEntries(paths.map((path) => [path, accessTo(rules, join(folder, path))]));
}
