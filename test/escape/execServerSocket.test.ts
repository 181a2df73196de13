import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ok } from '../../src/base/result.ts';
import { connectExecClient } from '../../src/runtime/execServer/client/connectExecClient.ts';
import { dialUnixSocket } from '../../src/runtime/execServer/client/dial.ts';
import { RemoteBackend } from '../../src/runtime/execServer/client/remoteBackend.ts';
import { spawnServer } from '../../src/runtime/environments/local/spawnServer.ts';
import type { NetworkMode } from '../../src/sandbox/policy/policy.ts';
import type { SpawnedServer } from '../harness/spawnedServer.ts';
import { startCordonServer } from '../harness/cordonServer.ts';
import { testPolicy } from '../harness/testRuntime.ts';
import type { ProcessEntry } from '../harness/processes.ts';
import { assertEnded, isStillAlive, listProcesses } from '../harness/processes.ts';
import {
  all,
  Arena,
  compileAttack,
  isRoot,
  ownProcesses,
  ownUser,
  withoutCompanion,
  withoutMount,
} from './harness.ts';

const cli = join(import.meta.dirname, '../../dist/cli.js');

describe('A command cannot reach the server that runs commands', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let runtime: Arena;
  let folder: string;
  let socket: string;
  let server: ProcessEntry;

  before(async () => {
    runtime = new Arena();
    chmodSync(runtime.folder, 0o700);
    folder = join(runtime.folder, 'cordon');
    mkdirSync(folder, { mode: 0o700 });
    socket = await spawnServer({ program: cli, folder, environment: process.env });
    server = listProcesses().find(({ command }) => command.includes(socket)) ?? assert.fail('no server');
  });
  after(async () => {
    process.kill(server.pid, 'SIGTERM');
    await assertEnded([server]);
    runtime.dispose();
  });

  /** Uses the very folder in which the server is, as the commands of a window do. */
  const arenaWith = (network: NetworkMode): Arena => {
    return new Arena(
      { tmp: 'shared', network, writableRoots: [runtime.folder] },
      { environment: { XDG_RUNTIME_DIR: runtime.folder } },
    );
  };

  for (const network of ['off', 'on'] as const) {
    it(`by its socket, with the network ${network}`, async () => {
      const arena = arenaWith(network);
      try {
        const words = JSON.stringify({ id: 1, method: 'initialize', params: { clientName: 'attack' } });
        const script = `require('net').connect(${JSON.stringify(socket)})
          .on('data', (data) => { console.log(String(data)); process.exit(); })
          .on('error', (error) => console.log(error.code))
          .write(${JSON.stringify(`${words}\n`)});`;
        assert.match((await arena.node(script)).stdout, /^E(ACCES|NOENT)\n$/);
        assert.match((await arena.node(script, { without: withoutMount(folder) })).stdout, /sessionId/);
      } finally {
        arena.dispose();
      }
    });
  }

  it('by the socket of a server that comes into its folder later', async () => {
    const [shared, other] = [new Arena(), new Arena()];
    const places = [shared, other].map(({ folder: path }) => join(path, 'sockets'));
    const go = join(shared.root, 'go');
    const servers: SpawnedServer[] = [];
    try {
      for (const place of places) {
        mkdirSync(place, { mode: 0o700 });
      }
      const [own, elsewhere] = places.map((place) => `${place}/later.sock`);
      servers.push(await startCordonServer(`unix:${places[0]}/first.sock`));
      const client = await connectExecClient(dialUnixSocket(`${places[0]}/first.sock`));
      const words = JSON.stringify({ id: 1, method: 'initialize', params: { clientName: 'attack' } });
      const script = `const { existsSync } = require('fs');
        const reach = (path) => new Promise((resolve) => require('net').connect(path)
          .on('data', (data) => resolve(/sessionId/.test(data)))
          .on('error', (error) => resolve(error.code))
          .write(${JSON.stringify(`${words}\n`)}));
        const wait = async () => {
          if (!existsSync(${JSON.stringify(go)})) { setTimeout(wait, 20); return; }
          for (const path of ${JSON.stringify([own, elsewhere])}) console.log(await reach(path));
          process.exit();
        };
        wait();`;
      const policy = testPolicy(shared.root, { tmp: 'shared', network: 'on', writableRoots: places });
      const started = await new RemoteBackend({ connect: async () => ok(client) }).start({
        ...{ argv: [process.execPath, '-e', script], cwd: shared.root, env: {}, policy },
      });
      assert.ok(started.ok, JSON.stringify(started));
      for (const path of [own, elsewhere]) {
        servers.push(await startCordonServer(`unix:${path}`));
      }
      writeFileSync(go, '');
      await started.value.closed;
      const { chunks } = await started.value.read({ afterSeq: 0 });
      assert.match(Buffer.concat(chunks.map(({ chunk }) => chunk)).toString(), /^E(ACCES|NOENT)\ntrue\n$/);
      client.dispose();
    } finally {
      await Promise.all(servers.map((one) => one.dispose()));
      shared.dispose();
      other.dispose();
    }
  });

  it('by its log and the names of its sockets', async () => {
    const arena = arenaWith('off');
    try {
      const log = readdirSync(folder).find((name) => name.endsWith('.log')) ?? assert.fail('no log');
      assert.notEqual(readFileSync(join(folder, log), 'utf8'), '');
      const script = `ls ${folder}; cat ${join(folder, log)}`;
      assert.equal((await arena.shell(script)).stdout, '');
      assert.match(
        (await arena.shell(script, { without: withoutMount(folder) })).stdout,
        /exec-[^]*"listen"/,
      );
    } finally {
      arena.dispose();
    }
  });

  it('by a signal, nor by looking into it', async () => {
    // Where bubblewrap makes the mounts, it can be left among the processes of the machine.
    const arena = arenaWith('on');
    const plain = new Arena({}, { mountedBy: 'bubblewrap' });
    try {
      const signal = `kill -0 ${server.pid} && echo reached`;
      const look = `test -e /proc/${server.pid}/environ && echo reached`;
      for (const script of [signal, look]) {
        assert.equal((await arena.shell(script)).stdout, '');
        assert.equal((await plain.shell(script, { without: ownProcesses })).stdout, 'reached\n');
      }
      assert.ok(isStillAlive(server));
    } finally {
      arena.dispose();
      plain.dispose();
    }
  });

  it('with ptrace', async function () {
    const arena = arenaWith('on');
    try {
      const argv = [compileAttack('attack', arena.root), 'ptrace', String(server.pid)];
      assert.equal((await arena.run(argv)).stdout, 'ESRCH\n');
      if (!isRoot) this.skip(); // without its user namespace bubblewrap does not start for an ordinary user
      const without = all(ownProcesses, ownUser, withoutCompanion);
      assert.equal((await arena.run(argv, { without })).stdout, 'worked\n');
    } finally {
      arena.dispose();
    }
  });
});
