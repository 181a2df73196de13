import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ensureCodex } from '../../scripts/codex.mjs';
import { silentLog } from '../../src/base/log.ts';
import { createSandboxManager } from '../../src/sandbox/createSandboxManager.ts';
import { childEnvironment } from '../../src/sandbox/environment.ts';
import type { GitMode, SandboxPolicy } from '../../src/sandbox/policy/policy.ts';
import { nodeMachine } from '../../src/sandbox/policy/nodeMachine.ts';
import { resolvePolicy } from '../../src/sandbox/policy/resolve.ts';
import { helperPath } from '../harness/testRuntime.ts';

/** What a script brings about: true when it ends with 0. */
interface Probe {
  readonly what: string;
  /** For bash in the workspace. `HOME` is a home folder of its own, `NODE` a Node. */
  readonly script: string;
  readonly codex: boolean;
  readonly cordon: boolean;
  /** As the orchestrator decides for a command line that runs git. */
  readonly git?: GitMode;
}

const node = (script: string): string => `"$NODE" -e '${script}'`;
const exits = '.on("error", () => process.exit(1))';

/** What should fail, then what should work; both with the defaults of the program. */
const probes: readonly Probe[] = [
  {
    what: 'read a private key in the home folder',
    script: 'grep key "$HOME/.ssh/id_ed25519"',
    codex: true,
    cordon: false,
  },
  { what: 'read passwords in a project', script: 'grep password .env', codex: true, cordon: false },
  { what: 'write outside', script: 'echo x > "$HOME/.bashrc"', codex: false, cordon: false },
  {
    what: 'write a hook of the repository',
    script: 'echo x > .git/hooks/pre-commit',
    codex: false,
    cordon: false,
  },
  {
    what: 'write a hook of a nested repository',
    script: 'echo x > nested/.git/hooks/pre-commit',
    codex: true,
    cordon: false,
  },
  { what: 'write tasks of the editor', script: 'echo x > .vscode/tasks.json', codex: true, cordon: false },
  { what: 'write through a hard link that exists', script: 'echo x > linked', codex: true, cordon: false },
  { what: 'write into an inherited descriptor', script: 'echo x >&9', codex: true, cordon: false },
  { what: 'read a token in the environment', script: 'test -n "$DEPLOY_TOKEN"', codex: true, cordon: false },
  { what: 'make a user namespace', script: 'unshare -U true', codex: true, cordon: false },
  {
    what: 'commit',
    script: 'git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x',
    git: 'writable',
    codex: false,
    cordon: true,
  },
  {
    what: 'spawnSync of Node',
    script: node('process.exit(require("child_process").spawnSync("echo", ["x"]).error ? 1 : 0)'),
    codex: false,
    cordon: true,
  },
  {
    what: 'a server on its own loopback',
    script: node(
      `const s = require("net").createServer((c) => c.end()).listen(0, "127.0.0.1", () => require("net").connect(s.address().port, "127.0.0.1", () => process.exit(0))${exits})${exits}`,
    ),
    codex: false,
    cordon: true,
  },
  {
    what: 'a Unix socket of its own',
    script: node(
      `const s = require("net").createServer((c) => c.end()).listen("own.sock", () => require("net").connect("own.sock", () => process.exit(0))${exits})${exits}`,
    ),
    codex: false,
    cordon: true,
  },
  {
    what: 'the list of network interfaces',
    script: node('require("os").networkInterfaces()'),
    codex: false,
    cordon: true,
  },
];

describe('What commands can do: in the sandbox of Codex and in ours', function () {
  this.timeout(60_000);

  let codex: string;
  let folder: string;
  let workspace: string;
  let environment: NodeJS.ProcessEnv;

  before(async function () {
    this.timeout(600_000);
    if (process.platform !== 'linux') this.skip();
    codex = await ensureCodex();
  });

  beforeEach(() => {
    // Codex does not start with its own folder in a temporary one.
    folder = realpathSync(mkdtempSync(join(homedir(), '.cordon-interop-')));
    workspace = join(folder, 'workspace');
    for (const name of ['home/.ssh', 'home/.codex', 'workspace/nested', 'workspace/.vscode']) {
      mkdirSync(join(folder, name), { recursive: true });
    }
    for (const [name, text] of Object.entries({
      'home/.ssh/id_ed25519': 'key',
      'workspace/.env': 'password',
      'workspace/.vscode/tasks.json': '{}',
      victim: '',
    })) {
      writeFileSync(join(folder, name), text);
    }
    execFileSync('ln', [join(folder, 'victim'), join(workspace, 'linked')]);
    execFileSync('git', ['init', '-q', workspace]);
    execFileSync('git', ['init', '-q', join(workspace, 'nested')]);
    environment = {
      PATH: process.env['PATH'],
      HOME: join(folder, 'home'),
      CODEX_HOME: join(folder, 'home/.codex'),
      DEPLOY_TOKEN: 'hunter2',
      NODE: process.execPath,
    };
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs a command with descriptor 9 open, as an editor may have some. */
  function isDone(argv: readonly string[], env: NodeJS.ProcessEnv, cwd = workspace): boolean {
    const opened = ['-c', 'exec 9>>"$0"; exec "$@"', join(folder, 'leak'), ...argv];
    const { status, stderr } = spawnSync('/bin/bash', opened, { cwd, env, encoding: 'utf8' });
    assert.doesNotMatch(stderr, /bwrap: |cordon: .*sandbox/, 'it did not start');
    return status === 0;
  }

  async function isDoneInCordon(script: string, git: GitMode | undefined): Promise<boolean> {
    const manager = createSandboxManager({
      platform: process.platform,
      helperPath,
      searchPath: process.env['PATH'] ?? '',
      log: silentLog,
      untrustedFolders: () => [workspace],
      environment,
    });
    const policy = defaultPolicy();
    const env = childEnvironment({
      policy: policy.environment,
      parent: environment,
      request: { NODE: process.execPath },
      isTty: false,
      isNetworkOff: true,
    });
    const command = { argv: ['/bin/bash', '-c', script], cwd: workspace, env, tty: false };
    const launch = await manager.transform({ ...policy, ...(git && { git }) }, command);
    assert.ok(launch.ok, launch.ok ? '' : launch.error.message);
    try {
      return isDone(launch.value.argv, { ...launch.value.env }, launch.value.cwd);
    } finally {
      await launch.value.release();
    }
  }

  function defaultPolicy(): SandboxPolicy {
    const machine = { ...nodeMachine(), homeDir: join(folder, 'home') };
    const policy = resolvePolicy({ ...machine, root: workspace, isTrusted: true, user: {} });
    assert.ok(policy.ok, policy.ok ? '' : policy.error.message);
    return policy.value;
  }

  for (const { what, script, codex: inCodex, cordon, git } of probes) {
    it(`${what}: Codex ${inCodex ? 'yes' : 'no'}, Cordon ${cordon ? 'yes' : 'no'}`, async () => {
      const argv = [codex, 'sandbox', '-P', ':workspace', '-C', workspace, '--', '/bin/bash', '-c', script];
      assert.equal(await isDoneInCordon(script, git), cordon, 'Cordon');
      assert.equal(isDone(argv, environment), inCodex, 'Codex');
    });
  }

  it('and both run commands at all', async () => {
    const argv = [
      codex,
      'sandbox',
      '-P',
      ':workspace',
      '-C',
      workspace,
      '--',
      '/bin/bash',
      '-c',
      'echo x > y',
    ];
    assert.ok(await isDoneInCordon('echo x > y', undefined));
    assert.ok(isDone(argv, environment));
  });
});
