import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { listenWebSocket } from '../../../src/runtime/execServer/server/listen/listenWebSocket.ts';
import { cordonCli, TestServer } from '../../harness/execServer.ts';
import type { TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';
import { waitFor } from '../../harness/waitFor.ts';

const mebibyte = 1024 * 1024;

describe('cordon exec-server listens', function () {
  this.timeout(120_000);
  let folder: TemporaryFolder;
  const servers: TestServer[] = [];
  beforeEach(async () => void (folder = await createTemporaryFolder('listen')));
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.stop()));
    await folder.dispose();
  });

  async function start(...args: readonly string[]): Promise<TestServer> {
    const server = await TestServer.start(args);
    servers.push(server);
    return server;
  }

  function refusal(...args: readonly string[]): string {
    const { status, stderr, stdout } = spawnSync(process.execPath, [cordonCli, 'exec-server', ...args], {
      encoding: 'utf8',
      timeout: 20_000,
    });
    assert.equal(status, 1, stderr + stdout);
    assert.equal(stdout, '');
    return stderr;
  }

  describe('on a Unix socket', () => {
    it('that only its owner reaches, for many clients', async () => {
      const path = join(folder.path, 'socket');
      const server = await start('--listen', `unix:${path}`);
      assert.equal(server.address, `unix:${path}`);
      assert.equal(statSync(path).mode & 0o777, 0o600);
      const clients = await Promise.all([1, 2, 3].map(() => server.connect()));
      for (const client of clients) {
        await client.script('p', 'echo out');
        assert.equal(await client.closed('p'), 0);
        assert.equal(client.outputOf('p').toString(), 'out\n');
      }
      await server.stop();
      assert.equal(existsSync(path), false);
    });

    it('in the place of one whose server was killed, and not of one that is served', async () => {
      const path = join(folder.path, 'socket');
      const first = await start('--listen', `unix:${path}`);
      assert.match(refusal('--listen', `unix:${path}`), /is served by another process/);
      first.process.kill('SIGKILL');
      await first.exitCode;
      assert.ok(existsSync(path));
      const second = await start('--listen', `unix:${path}`);
      const client = await second.connect();
      assert.deepEqual(await client.ok('environment/status'), { status: 'ready' });
    });

    it('never in a folder of others, in place of a file, or under too long a name', () => {
      const open = join(folder.path, 'open');
      mkdirSync(open);
      chmodSync(open, 0o750);
      assert.match(refusal('--listen', `unix:${open}/socket`), /open to others.*chmod 700/s);
      writeFileSync(join(folder.path, 'file'), 'x');
      assert.match(refusal('--listen', `unix:${folder.path}/file`), /is not a socket/);
      assert.match(refusal('--listen', `unix:${folder.path}/${'x'.repeat(100)}`), /longer than 107 bytes/);
      assert.match(refusal('--listen', `unix:${folder.path}/none/socket`), /mkdir -m 700/);
      assert.equal(readFileSync(join(folder.path, 'file'), 'utf8'), 'x');
      const link = join(folder.path, 'link');
      symlinkSync(folder.path, link);
      assert.match(refusal('--listen', `unix:${link}/socket`), /--listen unix:.* is a link or a file/);
    });
  });

  it('nowhere but on loopback without authentication', () => {
    for (const host of ['0.0.0.0', '[::]', '192.0.2.1', '10.0.0.1']) {
      assert.match(refusal('--listen', `ws://${host}:0`), /--listen ws:.*--ws-auth/);
    }
    for (const where of [
      'ws://localhost:0',
      'ws://127.0.0.1:0/',
      'wss://127.0.0.1:0',
      'http://127.0.0.1:0',
    ]) {
      assert.match(refusal('--listen', where), /is not possible: use ws:\/\/IP:PORT/);
    }
    assert.match(refusal('--listen', 'ws://127.0.0.1:99999'), /is not possible/);
  });

  it('with flags that fit together, and names those that do not', () => {
    assert.match(refusal('--concurrent-requests', '0'), /--concurrent-requests 0 is not possible.*from 1/);
    assert.match(refusal('--detached-seconds', 'x'), /--detached-seconds x/);
    assert.match(refusal('--ws-auth', 'none'), /capability-token, signed-bearer-token/);
    assert.match(refusal('--ws-token-sha256', 'ab'), /goes with --ws-auth capability-token/);
    assert.match(refusal('--ws-auth', 'capability-token'), /needs one of --ws-token-file/);
    assert.match(refusal('--ws-auth', 'capability-token', '--ws-token-sha256', 'ab'), /64 hexadecimal/);
    assert.match(refusal('--ws-auth', 'signed-bearer-token'), /--ws-shared-secret-file/);
    const short = join(folder.path, 'short');
    writeFileSync(short, 'too short');
    assert.match(
      refusal('--ws-auth', 'signed-bearer-token', '--ws-shared-secret-file', short),
      /at least 32 bytes/,
    );
    writeFileSync(short, '\n');
    assert.match(refusal('--ws-auth', 'capability-token', '--ws-token-file', short), /empty/);
    assert.match(refusal('--network', 'some'), /--network is "some"/);
    assert.match(
      refusal('--listen', 'stdio', '--ws-auth', 'capability-token', '--ws-token-sha256', 'a'.repeat(64)),
      /--ws-auth does not go with --listen stdio/,
    );
    assert.match(refusal('--log', '/no/such/folder/log'), /--log \/no\/such\/folder\/log is not possible/);
    assert.match(refusal('--log', ''), /--log "" is not possible: name a file/);
    assert.match(refusal('--nonsense'), /^[^\n]*--nonsense[^\n]*--help" lists the flags[^\n]*\n$/);
    assert.match(refusal('--detached-seconds', '-1'), /^[^\n]*--detached-seconds[^\n]*--help[^\n]*\n$/);
    writeFileSync(short, 'one\ntwo\n');
    assert.match(refusal('--ws-auth', 'capability-token', '--ws-token-file', short), /on one line/);
  });

  it('and says what to do where it cannot', async () => {
    const { address } = await start();
    assert.match(
      refusal('--listen', address),
      /--listen ws:\S+ is not possible: .*in use.*another port: 0 takes/,
    );
    const token = ['--ws-auth', 'capability-token', '--ws-token-sha256', 'a'.repeat(64)];
    assert.match(refusal('--listen', 'ws://192.0.2.1:0', ...token), /that this machine has/);
  });

  it('with a secret in a file that others can read, after a warning', () => {
    for (const [mode, flag] of [
      ['capability-token', '--ws-token-file'],
      ['signed-bearer-token', '--ws-shared-secret-file'],
    ] as const) {
      const file = join(folder.path, mode);
      writeFileSync(file, 's'.repeat(32), { mode: 0o644 });
      const warning = (): string =>
        spawnSync(
          process.execPath,
          [cordonCli, 'exec-server', '--exit-when-idle', '0', '--ws-auth', mode, flag, file],
          { encoding: 'utf8', timeout: 20_000 },
        ).stderr;
      assert.ok(warning().startsWith(`cordon exec-server: ${flag} ${file} can be read or written by others`));
      assert.match(warning(), /^[^\n]*: chmod 600 \S+\n$/);
      chmodSync(file, 0o600);
      assert.equal(warning(), '');
    }
  });

  describe('to those with the right token:', () => {
    const status = (server: TestServer, authorization?: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(server.address, {
          headers: authorization === undefined ? {} : { authorization },
        });
        socket.once('open', () => {
          socket.terminate();
          resolve('101');
        });
        socket.once('unexpected-response', (_, response) => {
          let text = '';
          response.on('data', (chunk) => (text += String(chunk)));
          response.once('end', () => resolve(`${response.statusCode} ${text}`));
        });
        socket.once('error', reject);
      });

    it('a capability, of which the hash is enough', async () => {
      const hash = createHash('sha256').update('the token').digest('hex');
      const server = await start('--ws-auth', 'capability-token', '--ws-token-sha256', hash);
      assert.equal(await status(server), '401 missing websocket bearer token');
      assert.equal(await status(server, 'Bearer the-token'), '401 invalid websocket bearer token');
      assert.equal(await status(server, 'Basic the token'), '401 invalid authorization header');
      assert.equal(await status(server, 'Bearer '), '401 invalid authorization header');
      assert.equal(await status(server, `Bearer ${hash}`), '401 invalid websocket bearer token');
    });

    it('a capability in a file', async () => {
      const file = join(folder.path, 'token');
      writeFileSync(file, '  secret-1\n');
      const server = await start('--ws-auth', 'capability-token', '--ws-token-file', file);
      assert.equal(await status(server, 'bEaReR   secret-1  '), '101');
      assert.equal(await status(server, 'Bearer secret-2'), '401 invalid websocket bearer token');
    });

    it('a signed one, which says for whom and until when', async () => {
      const secret = '0123456789abcdef0123456789abcdef';
      const file = join(folder.path, 'secret');
      writeFileSync(file, `${secret}\n`);
      const server = await start(
        ...['--ws-auth', 'signed-bearer-token', '--ws-shared-secret-file', file],
        ...['--ws-issuer', 'me', '--ws-audience', 'you', '--ws-max-clock-skew-seconds', '5'],
      );
      const now = Math.floor(Date.now() / 1000);
      const good = { exp: now + 60, iss: 'me', aud: ['them', 'you'] };
      const jwt = (claims: object, alg = 'HS256', key = secret): string => {
        const parts = [{ alg, typ: 'JWT' }, claims].map((part) =>
          Buffer.from(JSON.stringify(part)).toString('base64url'),
        );
        const hash = alg === 'HS512' ? 'sha512' : 'sha256';
        const signature = createHmac(hash, key).update(parts.join('.')).digest('base64url');
        return `Bearer ${parts.join('.')}.${alg === 'none' ? '' : signature}`;
      };
      assert.equal(await status(server, jwt(good)), '101');
      assert.equal(await status(server, jwt({ ...good, exp: now - 2 })), '101');
      const bad: readonly (readonly [string, string])[] = [
        [jwt(good, 'HS512'), 'invalid websocket jwt'],
        [jwt(good, 'none'), 'invalid websocket jwt'],
        [jwt(good, 'HS256', `${secret}x`), 'invalid websocket jwt'],
        [`${jwt(good)}.x`, 'invalid websocket jwt'],
        ['Bearer x', 'invalid websocket jwt'],
        [jwt({ iss: 'me', aud: 'you' }), 'invalid websocket jwt'],
        [jwt({ ...good, exp: now - 60 }), 'expired websocket jwt'],
        [jwt({ ...good, nbf: now + 60 }), 'websocket jwt is not valid yet'],
        [jwt({ ...good, iss: 'you' }), 'websocket jwt issuer mismatch'],
        [jwt({ ...good, aud: 'them' }), 'websocket jwt audience mismatch'],
      ];
      for (const [authorization, text] of bad) {
        assert.equal(await status(server, authorization), `401 ${text}`);
      }
    });
  });

  it('on HTTP for one question, and for no page of a browser', async () => {
    const server = await start();
    const ask = (method: string, path: string, headers: Record<string, string> = {}): Promise<number> =>
      new Promise((resolve, reject) => {
        const asked = request(
          `${server.address.replace('ws:', 'http:')}${path}`,
          { method, headers },
          (response) => {
            response.resume();
            resolve(response.statusCode ?? 0);
          },
        );
        asked.once('error', reject);
        asked.end();
      });
    assert.equal(await ask('GET', '/readyz'), 200);
    assert.equal(await ask('POST', '/readyz'), 405);
    assert.equal(await ask('GET', '/healthz'), 404);
    assert.equal(await ask('GET', '/'), 400);
    for (const path of ['/readyz', '/', '/none']) {
      assert.equal(await ask('GET', path, { origin: 'null' }), 403);
    }
    const key = {
      'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      connection: 'Upgrade',
      upgrade: 'websocket',
    };
    assert.equal(await ask('GET', '/', { ...key, 'sec-websocket-version': '8' }), 400);
    assert.equal(await ask('GET', '/x', { ...key, 'sec-websocket-version': '13' }), 404);
    assert.equal(await ask('GET', '/', { ...key, 'sec-websocket-version': '13', origin: 'x' }), 403);
  });

  describe('and is not brought down by', () => {
    it('messages and frames that are too large', async () => {
      const server = await start();
      const stays = await server.connect();
      const sizes: readonly (readonly [number, boolean])[] = [
        [15 * mebibyte, true],
        [17 * mebibyte, false],
      ];
      for (const [size, isTaken] of sizes) {
        const client = await server.connect({ greet: false });
        client.transport.send(JSON.stringify('x'.repeat(size)));
        await waitFor('what becomes of it', () => client.isClosed || client.notes.length > 0);
        assert.equal(client.notes[0]?.error?.code, isTaken ? -32600 : undefined);
        assert.equal(client.isClosed, !isTaken);
        client.close();
      }
      const socket = new WebSocket(server.address);
      await new Promise((resolve) => socket.once('open', resolve));
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.on('error', () => {});
      for (let count = 0; count < 9; count++) {
        socket.send(Buffer.alloc(8 * mebibyte, ' '), { fin: false, binary: false });
      }
      await closed;
      assert.deepEqual(await stays.ok('environment/status'), { status: 'ready' });
    });

    it('a line that does not end', async () => {
      const server = await start('--listen', `unix:${join(folder.path, 's')}`);
      const socket = connect(join(folder.path, 's'));
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.on('error', () => {});
      socket.write(Buffer.alloc(65 * mebibyte, 'x'));
      await closed;
      assert.deepEqual(await (await server.connect()).ok('environment/status'), { status: 'ready' });
    });

    it('what is no message, too many values, or a tower of brackets', async () => {
      const server = await start();
      const client = await server.connect();
      const many = (count: number): string =>
        `{"id":1,"method":"environment/status","more":[${Array.from({ length: count }, () => 0).join()}]}`;
      const bad = ['{', '[]', '"x"', '{}', '{"id":null,"method":"x"}', '['.repeat(1e6), many(262_144)];
      for (const text of bad) {
        client.notes.length = 0;
        client.transport.send(text);
        await waitFor('an answer', () => client.notes.length > 0);
        const [answer] = client.notes;
        assert.equal(answer?.id, -1, text.slice(0, 50));
        assert.equal(answer?.error?.code, -32600);
        assert.match(
          answer?.error?.message ?? '',
          /^failed to parse websocket JSON-RPC message from exec-server websocket 127\.0\.0\.1:\d+:/,
        );
      }
      client.notes.length = 0;
      client.transport.send(many(262_000));
      await waitFor('an answer', () => client.notes.length > 0);
      assert.deepEqual(client.notes[0], { id: 1, result: { status: 'ready' } });
    });

    it('answers that nobody asked for, and notifications that nobody knows', async () => {
      const server = await start();
      const bad = [
        { id: 7, result: {} },
        { id: 7, error: { code: 1, message: 'x' } },
        { method: 'process/read' },
      ];
      for (const message of bad) {
        const client = await server.connect();
        client.send(message);
        await waitFor('the end', () => client.isClosed);
      }
    });

    it('a client that asks without reading the answers', async () => {
      const server = await start();
      const socket = new WebSocket(server.address);
      await new Promise((resolve) => socket.once('open', resolve));
      socket.send('{"id":0,"method":"initialize","params":{"clientName":"x"}}');
      socket.send('{"method":"initialized"}');
      socket.pause();
      const question = JSON.stringify({ id: 'x'.repeat(1000), method: 'environment/info' });
      for (let count = 0; count < 60_000; count++) {
        socket.send(question);
      }
      await new Promise((resolve) => setTimeout(resolve, 2000));
      assert.ok(server.memory < 300, `${server.memory} MiB`);
      socket.terminate();
      assert.deepEqual(await (await server.connect()).ok('environment/status'), { status: 'ready' });
    });
  });

  it('and closes clients that have fallen silent, and only those', async () => {
    const ends: string[] = [];
    const listener = await listenWebSocket({ host: '127.0.0.1', port: 0, pingMs: 50 }, (transport) => {
      transport.onClose(({ reason = '' }) => ends.push(reason));
      transport.resume();
    });
    const alive = new WebSocket(listener.address as string);
    const silent = new WebSocket(listener.address as string, { autoPong: false });
    await Promise.all([alive, silent].map((socket) => new Promise((done) => socket.once('open', done))));
    await new Promise((resolve) => silent.once('close', resolve));
    assert.deepEqual(ends, ['the other side does not answer']);
    assert.equal(alive.readyState, alive.OPEN);
    alive.terminate();
    await listener.close();
    await listener.ended;
  });

  it('until nobody has needed it for long', async () => {
    const server = await TestServer.start(['--exit-when-idle', '1', '--detached-seconds', '1']);
    const client = await server.connect();
    await client.script('p', 'exec sleep 1000');
    await new Promise((resolve) => setTimeout(resolve, 1500));
    assert.equal(server.process.exitCode, null);
    client.close();
    assert.equal(await server.exitCode, 0);
  });

  it('and writes down who came and what was started, without secrets', async () => {
    const log = join(folder.path, 'log');
    const server = await start('--log', log, '--listen', 'ws://127.0.0.1:0');
    const client = await server.connect({ greet: false });
    const sessionId = await client.greet();
    await client.script('p', 'echo $SECRET-out; exit 3', { env: { SECRET: 'hush' } });
    await client.closed('p');
    await client.start('none', ['/no/such/program']);
    client.close();
    await waitFor('its end in the log', () => readFileSync(log, 'utf8').includes('disconnect'));
    await server.stop();
    const text = readFileSync(log, 'utf8');
    const records = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(
      records.map(({ event }) => event).filter((event) => event !== 'message'),
      ['listen', 'connect', 'session', 'start', 'exit', 'startFailed', 'disconnect', 'end'],
    );
    const exit = records.find(({ event }) => event === 'exit');
    assert.equal(exit?.['exitCode'], 3);
    assert.equal(statSync(log).mode & 0o777, 0o600);
    assert.ok(!text.includes('hush') && !text.includes('-out') && !text.includes(sessionId));
  });
});
