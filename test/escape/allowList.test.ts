import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, readdirSync, realpathSync } from 'node:fs';
import type { Server as HttpServer } from 'node:http';
import { createServer as createHttpServer } from 'node:http';
import type { Socket } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { listen } from '../harness/proxyClient.ts';
import { AllowListArena, ports } from './allowListArena.ts';
import {
  Arena,
  all,
  finished,
  removing,
  sourceOf,
  start,
  withoutCompanion,
  withoutMount,
} from './harness.ts';

/** Asks the proxy directly, whatever a tool would make of the address. */
const curl = 'curl -s --noproxy "" --max-time 20';

describe('With an allow-list, a command cannot reach', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let arena: AllowListArena;
  let secret: HttpServer;
  let port: number;
  let contacts: string[];

  beforeEach(async () => {
    arena = new AllowListArena();
    contacts = [];
    secret = createHttpServer((request, response) => {
      contacts.push(`${request.headers.host} ${request.url}`);
      response.end('the secret');
    });
    port = await listen(secret);
  });

  afterEach(() => {
    arena.dispose();
    secret.closeAllConnections();
    secret.close();
  });

  const other = [{ host: '*.test', port: 1 }, { host: '*' }];

  it('anything without the proxy', async () => {
    const script = `curl -s --noproxy '*' --max-time 20 http://127.0.0.1:${port}/`;
    assert.equal((await arena.shellUnder(arena.allowing(ports(port)), script)).exitCode, 7);
    assert.deepEqual(contacts, []);
    const open = await arena.shellUnder(arena.allowing(ports(port)), script, {
      without: removing('--unshare-net'),
    });
    assert.equal(open.stdout, 'the secret');
  });

  it('a name server: no question leaves', async () => {
    const server = createSocket('udp4');
    let questions = 0;
    server.on('message', () => (questions += 1));
    server.bind(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const script = `
        const dns = new (require('node:dns').Resolver)({ timeout: 300, tries: 1 });
        dns.setServers(['127.0.0.1:${server.address().port}']);
        dns.resolve4('data.evil.example', (error) => process.exit(error ? 9 : 0));`;
      const policy = arena.allowing(ports(port));
      assert.equal((await arena.nodeUnder(policy, script)).exitCode, 9);
      assert.equal(questions, 0);
      assert.notEqual((await arena.shellUnder(policy, 'getent hosts data.evil.example')).exitCode, 0);
      await arena.nodeUnder(policy, script, { without: removing('--unshare-net') });
      assert.notEqual(questions, 0);
    } finally {
      server.close();
    }
  });

  it('a name server by way of the proxy: only allowed names are looked up', async () => {
    const policy = arena.allowing(ports(port));
    await arena.shellUnder(policy, `${curl} http://data.evil.example/; ${curl} https://more.evil.example/`);
    assert.deepEqual(arena.lookedUp, []);
    await arena.shellUnder(policy, `${curl} http://data.test:${port}/`);
    assert.deepEqual(arena.lookedUp, ['data.test']);
  });

  const spellings = [
    ...[
      '127.0.0.1',
      'localhost',
      '127.1',
      '0x7f.1',
      '2130706433',
      '0177.0.0.1',
      '[::ffff:127.0.0.1]',
      '[::1]',
    ],
    ...[
      '[::ffff:7f00:1]',
      '0.0.0.0',
      '[::]',
      '[::127.0.0.1]',
      '[64:ff9b::7f00:1]',
      'localhost.',
      'a.localhost',
    ],
  ];
  it('the machine’s loopback, in any notation', async () => {
    for (const host of spellings) {
      for (const [request, answer] of [
        [
          `GET http://${host}:${port}/ HTTP/1.1\r\nHost: ${host}:${port}\r\nConnection: close\r\n\r\n`,
          / 403 /,
        ],
        [`CONNECT ${host}:${port} HTTP/1.1\r\n\r\n`, / 403 /],
      ] as const) {
        const script = `
          const socket = require('node:net').connect(3128, '127.0.0.1');
          socket.pipe(process.stdout);
          socket.write(${JSON.stringify(request)});`;
        const outcome = await arena.nodeUnder(arena.allowing(other), script);
        assert.match(outcome.stdout, answer, host);
        assert.equal(outcome.blocked[0]?.reason, 'local-address', host);
      }
    }
    assert.deepEqual(contacts, []);
    const named = await arena.shellUnder(arena.allowing(ports(port)), `${curl} http://2130706433:${port}/`);
    assert.equal(named.stdout, 'the secret');
  }).timeout(120_000);

  it('the machine by a name that leads to it', async () => {
    for (const url of [`http://rebound.test:${port}/`, `http://rebound.evil.example:${port}/`]) {
      const outcome = await arena.shellUnder(arena.allowing([{ host: '*' }]), `${curl} ${url}`);
      assert.match(outcome.stdout, /is a local address/);
    }
    assert.deepEqual(contacts, []);
    const named = [{ host: '*' }, { host: '127.0.0.1' }];
    const outcome = await arena.shellUnder(arena.allowing(named), `${curl} http://rebound.test:${port}/`);
    assert.equal(outcome.stdout, 'the secret');
  });

  it('the machine by a name that leads to it only when it is asked a second time', async () => {
    let round = 0;
    const server = createServer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nthe named one'));
    const named = await listen(server);
    const rebinding = new AllowListArena(async () => [round++ === 0 ? '127.0.0.1' : '127.0.0.2']);
    try {
      const policy = rebinding.allowing(ports(named));
      const script = `${curl} http://a.test:${named}/; ${curl} http://a.test:${named}/`;
      const outcome = await rebinding.shellUnder(policy, script);
      assert.match(outcome.stdout, /^the named one.*is a local address/);
      assert.deepEqual(rebinding.lookedUp, ['a.test', 'a.test']);
    } finally {
      rebinding.dispose();
      server.close();
    }
  });

  it('the machine by a redirection', async () => {
    const server = createHttpServer((_, response) => {
      response.writeHead(302, { Location: `http://127.0.0.1:${port}/` }).end();
    });
    const redirecting = await listen(server);
    try {
      const script = `${curl} -L http://127.0.0.1:${redirecting}/`;
      const outcome = await arena.shellUnder(arena.allowing(ports(redirecting)), script);
      assert.match(outcome.stdout, new RegExp(`127\\.0\\.0\\.1:${port} is a local address`));
      assert.deepEqual(contacts, []);
      const both = await arena.shellUnder(arena.allowing(ports(redirecting, port)), script);
      assert.equal(both.stdout, 'the secret');
    } finally {
      server.close();
    }
  });

  it('the cloud’s metadata, nor the network around the machine', async () => {
    for (const url of ['http://169.254.169.254/latest/', 'http://10.255.255.1/', 'http://[fd00:ec2::254]/']) {
      const outcome = await arena.shellUnder(arena.allowing([{ host: '*' }]), `${curl} -g '${url}'`);
      assert.match(outcome.stdout, /is a local address/);
    }
    // Named, it is let through: as far as whatever listens there.
    const policy = arena.allowing([{ host: '169.254.169.254', port }]);
    const outcome = await arena.shellUnder(policy, `${curl} --max-time 1 http://169.254.169.254:${port}/`);
    assert.deepEqual(outcome.blocked, []);
  });

  it('a host that is not listed, one that is denied, or another port', async () => {
    const policy = arena.allowing(ports(port), [{ host: 'denied.test' }]);
    for (const [url, reason] of [
      [`http://evil.example:${port}/`, 'allow-list'],
      [`http://denied.test:${port}/`, 'deny-list'],
      [`http://app.test:1/`, 'allow-list'],
    ] as const) {
      const outcome = await arena.shellUnder(
        policy,
        `${curl} ${url}; ${curl} -x socks5h://127.0.0.1:3128 ${url}`,
      );
      assert.deepEqual(
        outcome.blocked.map((blocked) => blocked.reason),
        [reason],
      );
      assert.equal(outcome.exitCode, 97, 'SOCKS: not allowed');
    }
    assert.deepEqual(contacts, []);
    const outcome = await arena.shellUnder(
      policy,
      `${curl} -x socks5h://127.0.0.1:3128 http://app.test:${port}/`,
    );
    assert.equal(outcome.stdout, 'the secret');
  });

  it('another host under the name of an allowed one: by header, by smuggling, by TLS', async () => {
    const policy = arena.allowing(ports(port));
    const raw = (request: string): string => `
      const socket = require('node:net').connect(3128, '127.0.0.1');
      socket.pipe(process.stdout);
      socket.write(${JSON.stringify(request)});`;
    const head = `POST http://app.test:${port}/ HTTP/1.1\r\nConnection: close\r\n`;
    const inner = `GET /inner HTTP/1.1\r\nHost: evil.example\r\n\r\n`;
    for (const request of [
      `${head}Host: evil.example\r\n\r\n`,
      `${head}Host: app.test:${port}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
      `${head}Host: app.test:${port}\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${inner}`,
      `${head}Host: app.test:${port}\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n${inner}`,
    ]) {
      assert.match((await arena.nodeUnder(policy, raw(request))).stdout, /^HTTP\/1\.1 400 /);
    }
    assert.deepEqual(contacts, []);
    const tls = `${curl} -k --connect-to evil.example:${port}:app.test:${port} https://evil.example:${port}/`;
    assert.equal((await arena.shellUnder(policy, tls)).blocked[0]?.reason, 'server-name');
    const both = arena.allowing([...ports(port), { host: 'evil.example' }]);
    assert.deepEqual((await arena.shellUnder(both, tls)).blocked, []);
  });

  it('anything by UDP through the proxy', async () => {
    const script = `
      const socket = require('node:net').connect(3128, '127.0.0.1');
      socket.pipe(process.stdout);
      socket.write(Buffer.from([5, 1, 0, 5, 3, 0, 1, 127, 0, 0, 1, ${port >> 8}, ${port & 255}]));`;
    assert.equal((await arena.nodeUnder(arena.allowing(ports(port)), script)).stdout.slice(2, 4), '\x05\x07');
  });

  it('the proxy of another command', async () => {
    const launch = await arena.launch(['/bin/true'], {}, arena.allowing(ports(port)));
    const source = sourceOf('/run/cordon/proxy.sock', launch.argv);
    const script = `
      require('node:net').connect(${JSON.stringify(source)})
        .on('connect', () => process.exit(0)).on('error', () => process.exit(9));`;
    try {
      const policy = arena.allowing([]);
      assert.equal((await arena.nodeUnder(policy, script)).exitCode, 9);
      const [place] = ['/tmp', '/run'].filter((folder) => source.startsWith(`${folder}/`));
      if (place === '/tmp') {
        const without = withoutMount('/tmp');
        assert.equal((await arena.nodeUnder(policy, script, { without })).exitCode, 0);
      }
    } finally {
      await launch.release();
    }
  });

  it('an abstract socket of the machine', async () => {
    const server = createServer();
    const path = `\0cordon-allow-list-${process.pid}`;
    server.listen({ path });
    await once(server, 'listening');
    const script = `
      require('node:net').connect({ path: ${JSON.stringify(path)} })
        .on('connect', () => process.exit(0)).on('error', () => process.exit(9));`;
    try {
      assert.equal((await arena.nodeUnder(arena.allowing([]), script)).exitCode, 9);
      const bare = arena.policy({ network: 'off' });
      const without = all(removing('--unshare-net'), withoutCompanion);
      assert.equal((await arena.nodeUnder(bare, script, { without })).exitCode, 0);
    } finally {
      server.close();
    }
  });

  it('anything once the bridge is gone', async () => {
    // The first connection, which is refused, starts the bridge: the second child of process 1, whatever its number.
    const script = `
      ${curl} http://127.0.0.1:1/
      killed=0
      for process in /proc/[0-9]*; do
        read -r _ name _ parent _ < "$process/stat"
        if [ "$parent" = 1 ] && [ "\${process#/proc/}" != $$ ]; then
          kill -9 "\${process#/proc/}" && killed=$((killed + 1))
        fi
      done
      test $killed = 1 || exit 99
      ${curl} http://127.0.0.1:${port}/`;
    assert.equal((await arena.shellUnder(arena.allowing(ports(port)), script)).exitCode, 7);
    assert.deepEqual(contacts, []);
  });

  it('the credentials of the proxy that the machine is behind', async () => {
    const parent = { ...process.env, HTTPS_PROXY: 'http://ann:secret@proxy.example:8080' };
    const { environmentUnder } = await import('../../src/runtime/environmentUnder.ts');
    const policy = arena.allowing([]);
    const environment = { ...policy.environment, inherit: 'all' as const };
    const env = environmentUnder({ ...policy, environment }, parent, false);
    assert.doesNotMatch(JSON.stringify(env), /ann:secret/);
    const open = environmentUnder({ ...policy, environment, network: 'on' }, parent, false);
    assert.match(JSON.stringify(open), /ann:secret/);
  });
});

describe('The proxy of an allow-list', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let arena: AllowListArena;
  before(() => void (arena = new AllowListArena()));
  after(() => arena.dispose());

  it('is required: without it nothing runs', async () => {
    const long = join(arena.folder, 'a'.repeat(100));
    mkdirSync(long, { mode: 0o700 });
    const elsewhere = new Arena({}, { environment: { XDG_RUNTIME_DIR: long } });
    const command = { argv: ['/bin/true'], cwd: elsewhere.root, env: {}, tty: false };
    const policy = { ...elsewhere.policy(), network: 'allow-list' } as const;
    const launch = await elsewhere.manager.transform(policy, command);
    assert.ok(!launch.ok && launch.error.kind === 'clause-unenforceable');
    assert.match(launch.error.message, /proxy .* does not start/);
    const off = await elsewhere.manager.transform({ ...policy, network: 'off' }, command);
    assert.ok(off.ok);
    await off.value.release();
    elsewhere.dispose();
  });

  it('tells the requests of commands apart', async () => {
    const outcomes = await Promise.all(
      ['one', 'two', 'three'].map((name) =>
        arena.shellUnder(arena.allowing([]), `${curl} http://${name}.evil.example/`),
      ),
    );
    assert.deepEqual(
      outcomes.map(({ blocked }) => blocked.map(({ host }) => host)),
      [['one.evil.example'], ['two.evil.example'], ['three.evil.example']],
    );
  });

  it('leaves no socket behind, and ends when its command does', async () => {
    const connections: Socket[] = [];
    const server = createServer((socket) => {
      connections.push(socket);
      socket.on('error', () => {});
    });
    const port = await listen(server);
    const policy = arena.allowing(ports(port));
    const launch = await arena.launch(
      ['/bin/bash', '-c', `${curl} -x http://127.0.0.1:3128 http://127.0.0.1:${port}/`],
      {},
      policy,
    );
    const socketPath = sourceOf('/run/cordon/proxy.sock', launch.argv);
    const child = start(launch.argv, launch.cwd, launch.env);
    const ended = finished(child);
    await once(server, 'connection');
    const closed = once(connections[0] as Socket, 'close');
    connections[0]?.resume();
    child.kill('SIGKILL');
    await ended;
    await launch.release();
    await closed;
    assert.ok(socketPath.startsWith(realpathSync(tmpdir())) || socketPath.startsWith('/run/'));
    assert.ok(!readdirSync(dirname(socketPath)).some((name) => socketPath.endsWith(name)));
    server.close();
  });

  it('serves 200 connections at once', async () => {
    const server = createHttpServer((request, response) => response.end(`<${request.url}>`));
    const port = await listen(server);
    const script = `
      Promise.all(Array.from({ length: 200 }, (_, index) => new Promise((resolve, reject) => {
        const socket = require('node:net').connect(3128, '127.0.0.1');
        let text = '';
        socket.on('error', reject);
        socket.on('data', (chunk) => (text += chunk));
        socket.on('end', () => resolve(text.includes('<http://x/' + index + '>') ? 1 : 0));
        socket.once('data', () => socket.end('GET http://x/' + index + ' HTTP/1.0\\r\\n\\r\\n'));
        socket.write('CONNECT app.test:${port} HTTP/1.1\\r\\n\\r\\n');
      }))).then((all) => console.log(all.reduce((a, b) => a + b)), (error) => console.log(error));`;
    const outcome = await arena.nodeUnder(arena.allowing(ports(port)), script);
    assert.equal(outcome.stdout.trim(), '200');
    server.close();
  });

  it('carries 200 MB up and down, whole', async () => {
    const size = 200 * 1024 * 1024;
    const server = createHttpServer((request, response) => {
      if (request.method === 'POST') {
        let received = 0;
        request.on('data', (chunk: Buffer) => (received += chunk.length));
        request.on('end', () => response.end(String(received)));
        return;
      }
      const chunk = Buffer.alloc(1024 * 1024, 'x');
      let left = size / chunk.length;
      const push = (): void => {
        while (left > 0) {
          left -= 1;
          if (!response.write(chunk)) return;
        }
        response.end();
      };
      response.on('drain', push);
      push();
    });
    const port = await listen(server);
    const policy = arena.allowing(ports(port));
    const script = `
      ${curl} http://app.test:${port}/ | wc -c
      ${curl} -p http://app.test:${port}/ | wc -c
      head -c ${size} /dev/zero | ${curl} -T - -X POST http://app.test:${port}/`;
    const outcome = await arena.shellUnder(policy, script.replaceAll('--max-time 20', '--max-time 60'));
    assert.deepEqual(outcome.stdout.split(/\s+/), [String(size), String(size), String(size)]);
    server.close();
  }).timeout(180_000);

  it('ends a direction when its sender does, through the bridge and for ssh', async () => {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      let text = '';
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
      socket.on('end', () => socket.end(`${text.length} bytes`));
    });
    const port = await listen(server);
    const script = `head -c 3000000 /dev/zero | tr '\\0' x | /run/cordon/launch --connect app.test ${port}`;
    const outcome = await arena.shellUnder(arena.allowing(ports(port)), script);
    assert.equal(outcome.stdout, '3000000 bytes');
    const refused = await arena.shellUnder(arena.allowing([]), script);
    assert.equal(refused.exitCode, 1);
    assert.match(refused.stderr, /^cordon: app\.test:\d+ is not on the allow-list/);
    server.close();
  });

  it('stops a download that is cancelled', async () => {
    const gone = Promise.withResolvers<void>();
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('close', () => gone.resolve());
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        const push = (): void => {
          while (!socket.destroyed && socket.write(Buffer.alloc(65_536)));
        };
        socket.on('drain', push);
        push();
      });
    });
    const port = await listen(server);
    const script = `${curl} -p http://app.test:${port}/ | head -c 1000000 | wc -c; sleep 20 & wait -n; echo`;
    const launch = await arena.launch(
      ['/bin/bash', '-c', script],
      { env: { PATH: process.env['PATH'] ?? '', http_proxy: 'http://127.0.0.1:3128' } },
      arena.allowing(ports(port)),
    );
    const child = start(launch.argv, launch.cwd, launch.env);
    const ended = finished(child);
    // While the command still runs: its end would close everything, too.
    await gone.promise;
    child.kill('SIGKILL');
    await ended;
    await launch.release();
    server.close();
  });
});
