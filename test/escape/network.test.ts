import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { createServer } from 'node:net';
import { release } from 'node:os';
import { join } from 'node:path';
import { helperInside } from '../../src/sandbox/linux/bubblewrap/machine.ts';
import type { Edit } from './harness.ts';
import {
  Arena,
  all,
  helperPath,
  isRoot,
  nodePath,
  removing,
  withoutCompanion,
  withoutMount,
} from './harness.ts';

describe('With the network off, a command cannot reach', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let arena: Arena;
  before(() => void (arena = new Arena()));
  after(() => arena.dispose());

  const servers: { close(): unknown }[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  async function listening(server: Server, where: object): Promise<{ contacts: number }> {
    const state = { contacts: 0 };
    servers.push(server);
    server.on('connection', (socket) => {
      state.contacts += 1;
      socket.end();
    });
    server.listen(where);
    await once(server, 'listening');
    return state;
  }

  const connect = (where: object): string =>
    `require('node:net').connect(${JSON.stringify(where)}).on('connect', () => process.exit(0)).on('error', () => process.exit(9))`;

  it('a TCP server on the machine’s loopback', async () => {
    const server = createServer();
    const state = await listening(server, { host: '127.0.0.1', port: 0 });
    const script = connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
    assert.equal((await arena.node(script)).exitCode, 9);
    assert.equal(state.contacts, 0);
    assert.equal((await arena.node(script, { without: removing('--unshare-net') })).exitCode, 0);
  });

  it('a UDP server on the machine’s loopback', async () => {
    const server = createSocket('udp4');
    let contacts = 0;
    server.on('message', () => (contacts += 1));
    servers.push(server);
    server.bind(0, '127.0.0.1');
    await once(server, 'listening');
    const script = `const s = require('node:dgram').createSocket('udp4'); s.send('x', ${server.address().port}, '127.0.0.1', () => s.close())`;
    await arena.node(script);
    assert.equal(contacts, 0);
    const contact = once(server, 'message');
    await arena.node(script, { without: removing('--unshare-net') });
    await contact;
  });

  it('an abstract Unix socket', async () => {
    const server = createServer();
    const path = `\0cordon-escape-${process.pid}`;
    const state = await listening(server, { path });
    assert.equal((await arena.node(connect({ path }))).exitCode, 9);
    assert.equal(state.contacts, 0);
    const without = all(removing('--unshare-net'), withoutCompanion);
    assert.equal((await arena.node(connect({ path }), { without })).exitCode, 0);
  });

  it('an abstract Unix socket with the network on either, from Linux 6.12 on', async function () {
    const [major = 0, minor = 0] = release().split('.').map(Number);
    if (major < 6 || (major === 6 && minor < 12)) this.skip();
    const server = createServer();
    const path = `\0cordon-escape-on-${process.pid}`;
    await listening(server, { path });
    const policy = arena.policy({ network: 'on' });
    const argv = [nodePath, '-e', connect({ path })];
    assert.equal((await arena.run(argv, {}, policy)).exitCode, 9);
    assert.equal((await arena.run(argv, { without: withoutCompanion }, policy)).exitCode, 0);
  });

  // Without a /run of its own the sandbox has no place for the companion program either.
  const withoutRun = all(withoutMount(helperInside), withoutMount('/run'), (argv) =>
    argv.map((word) => (word === helperInside ? helperPath : word)),
  );
  const places: readonly (readonly [string, Edit])[] = [
    ['/tmp', withoutMount('/tmp')],
    ['/run', withoutRun],
  ];
  for (const [folder, without] of places) {
    it(`a service of the machine by its socket in ${folder}`, async function () {
      if (folder === '/run' && !isRoot) this.skip();
      const path = join(folder, `cordon-escape-${process.pid}.sock`);
      const server = createServer();
      const state = await listening(server, { path });
      try {
        for (const user of [{}, { network: 'on' }]) {
          const policy = arena.policy(user);
          assert.equal((await arena.run([nodePath, '-e', connect({ path })], {}, policy)).exitCode, 9);
        }
        assert.equal(state.contacts, 0);
        assert.equal((await arena.node(connect({ path }), { without })).exitCode, 0);
      } finally {
        if (existsSync(path)) rmSync(path);
      }
    });
  }

  it('nothing of the above, while with the network on TCP works', async () => {
    const server = createServer();
    await listening(server, { host: '127.0.0.1', port: 0 });
    const script = connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
    const outcome = await arena.run([nodePath, '-e', script], {}, arena.policy({ network: 'on' }));
    assert.equal(outcome.exitCode, 0);
  });
});
