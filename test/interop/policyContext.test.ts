import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ok } from '../../src/base/result.ts';
import { connectExecClient } from '../../src/runtime/execServer/client/connectExecClient.ts';
import { dialWebSocket } from '../../src/runtime/execServer/client/dial.ts';
import type { ExecClient } from '../../src/runtime/execServer/client/execClient.ts';
import { RemoteBackend } from '../../src/runtime/execServer/client/remoteBackend.ts';
import { nodeMachine } from '../../src/sandbox/policy/nodeMachine.ts';
import type { SandboxPolicy } from '../../src/sandbox/policy/policy.ts';
import { resolvePolicy } from '../../src/sandbox/policy/resolve.ts';
import type { PolicySettings } from '../../src/sandbox/policy/settings.ts';
import type { SpawnedServer } from '../harness/spawnedServer.ts';
import { startCodexServer } from '../harness/codexServer.ts';

/** Whether a script for bash in the root ends with 0. `OUT` is a folder beside the root, `PORT` a listener's. */
interface Probe {
  readonly what: string;
  readonly script: string;
  readonly works: boolean;
  readonly user?: PolicySettings;
  /** The root lies in the home folder, with the defaults for that. */
  readonly isAtHome?: boolean;
}

const probes: readonly Probe[] = [
  { what: 'writes in a root at home', script: 'echo x > new && cat new', works: true, isAtHome: true },
  { what: 'reads the rest of the home folder', script: 'cat "$OUT/open"', works: false, isAtHome: true },
  { what: 'writes in the root', script: 'echo x > new && cat new', works: true },
  { what: 'reads outside', script: 'cat "$OUT/open"', works: true },
  { what: 'writes outside', script: 'echo x > "$OUT/open"', works: false },
  { what: 'reads a folder that a rule hides', script: 'cat "$OUT/hidden/key"', works: false },
  { what: 'lists it', script: 'ls "$OUT/hidden"', works: false },
  // Less than we say: the peer opens nothing for reading below something hidden.
  { what: 'reads what is opened in it', script: 'cat "$OUT/hidden/shown/text"', works: false },
  { what: 'reads passwords', script: 'cat .env', works: false },
  { what: 'reads them deeper', script: 'cat deep/er/.env.local', works: false },
  { what: 'writes a hook', script: 'echo x > .git/hooks/pre-commit', works: false },
  { what: 'writes tasks of the editor', script: 'echo x > .vscode/tasks.json', works: false },
  {
    what: 'plants settings of a tool that has none here',
    script: 'mkdir .cursor && echo x > .cursor/mcp.json',
    works: false,
  },
  { what: 'plants a file that a shell obeys', script: 'echo x > .envrc', works: false },
  { what: 'reads the files of others in /tmp', script: 'ls -A /tmp', works: false },
  { what: 'reads them where it is shared', script: 'ls -A /tmp', works: true, user: { tmp: 'shared' } },
  { what: 'reaches the services of the machine', script: 'ls /run/*', works: false },
  { what: 'connects to this machine', script: 'exec 3<>"/dev/tcp/127.0.0.1/$PORT"', works: false },
  {
    what: 'connects to it with the network on',
    script: 'exec 3<>"/dev/tcp/127.0.0.1/$PORT"',
    works: true,
    user: { network: 'on' },
  },
  {
    what: 'writes in the root in read-only mode',
    script: 'echo x > new',
    works: false,
    user: { mode: 'read-only' },
  },
];

describe('A policy of ours, enforced by the real codex exec-server', function () {
  this.timeout(60_000);
  let server: SpawnedServer;
  let client: ExecClient;
  let folder: string;
  let root: string;
  const listener = createServer((socket) => socket.end());
  let port: number;

  before(async function () {
    this.timeout(600_000);
    if (process.platform !== 'linux') this.skip();
    server = await startCodexServer();
    client = await connectExecClient(dialWebSocket(server.url));
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const address = listener.address();
    assert.ok(address !== null && typeof address === 'object');
    port = address.port;
  });
  after(async () => {
    listener.close();
    client?.dispose();
    await server?.dispose();
  });

  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(homedir(), '.cordon-interop-')));
    root = join(folder, 'root');
    for (const name of ['root/.git/hooks', 'root/.vscode', 'root/deep/er', 'out/hidden/shown']) {
      mkdirSync(join(folder, name), { recursive: true });
    }
    for (const name of [
      'root/.env',
      'root/deep/er/.env.local',
      'out/open',
      'out/hidden/key',
      'out/hidden/shown/text',
    ]) {
      writeFileSync(join(folder, name), 'text');
    }
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

  const policyFor = (user: PolicySettings, isAtHome: boolean): SandboxPolicy => {
    const hidden = join(folder, 'out/hidden');
    const files = { [hidden]: 'none', [join(hidden, 'shown')]: 'read' } as const;
    const policy = resolvePolicy({
      ...nodeMachine(),
      ...(!isAtHome && { homeDir: '/nonexistent' }),
      root,
      isTrusted: true,
      user: { ...user, ...(!isAtHome && { files: { ...files, [homedir()]: 'read' } }) },
    });
    assert.ok(policy.ok, policy.ok ? '' : policy.error.message);
    return policy.value;
  };

  for (const { what, script, works, user = {}, isAtHome = false } of probes) {
    it(`${works ? 'lets a command that' : 'stops one that'} ${what}`, async () => {
      const backend = new RemoteBackend({ connect: async () => ok(client) });
      const started = await backend.start({
        argv: ['/bin/bash', '-c', script],
        cwd: root,
        env: { PATH: '/usr/bin:/bin', OUT: join(folder, 'out'), PORT: String(port) },
        policy: policyFor(user, isAtHome),
      });
      assert.ok(started.ok, started.ok ? '' : started.error.message);
      await started.value.closed;
      const { chunks } = await started.value.read({ afterSeq: 0 });
      const output = Buffer.concat(chunks.map(({ chunk }) => chunk)).toString();
      assert.equal(started.value.exit?.exitCode === 0, works, output);
      assert.ok(!existsSync(join(root, '.cursor/mcp.json')) && !existsSync(join(root, '.envrc')));
    });
  }
});
