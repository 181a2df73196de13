import assert from 'node:assert/strict';
import { once } from 'node:events';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, utimesSync } from 'node:fs';
import type { IncomingMessage, Server as HttpServer } from 'node:http';
import { createServer as createHttpServer } from 'node:http';
import type { Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { join } from 'node:path';
import type { ProxySettings } from '../../../../src/sandbox/network/upstream.ts';
import { upstreamFromEnvironment, upstreamFromSettings } from '../../../../src/sandbox/network/upstream.ts';
import type { NetworkAccess } from '../../../../src/sandbox/network/networkProxy.ts';
import { NetworkProxy } from '../../../../src/sandbox/network/networkProxy.ts';
import type { ProxyEndpoint } from '../../../../src/sandbox/network/proxyEndpoint.ts';
import type { HostPattern } from '../../../../src/sandbox/policy/hostRules.ts';
import { policyOf } from '../../../harness/policyOf.ts';
import { collect, exchange, listen, until } from '../../../harness/proxyClient.ts';
import { createTemporaryFolder } from '../../../harness/temporaryFolder.ts';

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: readonly string[];
  readonly body: string;
}

describe('the network proxy', () => {
  const closing: (() => unknown)[] = [];
  let folder: string;
  let lines: string[];
  let web: HttpServer;
  let port: number;
  let seen: Seen[];
  let proxy: ProxyEndpoint;

  beforeEach(async () => {
    const temporary = await createTemporaryFolder('network');
    folder = temporary.path;
    closing.push(() => temporary.dispose());
    lines = [];
    seen = [];
    web = createHttpServer((request, response) => {
      void request.toArray().then((chunks) => {
        const { method, url, rawHeaders } = request;
        seen.push({ method, url, headers: rawHeaders, body: chunks.join('') });
        response.setHeader('Keep-Alive', 'timeout=7');
        response.end(`answer to ${method} ${url}`);
      });
    });
    port = await listen(web);
    closing.push(() => {
      web.closeAllConnections();
      web.close();
    });
    proxy = await open({}, port);
  });

  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) {
      await close();
    }
  });

  /** `*.test` is this machine's loopback, on these ports. */
  async function open(access: NetworkAccess, ...ports: readonly number[]): Promise<ProxyEndpoint> {
    const log = (line: string): void => void lines.push(line);
    const network = new NetworkProxy({
      folder,
      log: { debug: log, info: log, warn: log, error: log },
      lookup: async () => ['127.0.0.1'],
      upstream: () => undefined,
      ...access,
    });
    const allow = ports.flatMap((each): HostPattern[] => [
      { host: '127.0.0.1', port: each },
      { host: '*.test', port: each },
    ]);
    const hosts = { allow, deny: [{ host: 'denied.test' }] };
    const endpoint = await network.open(policyOf('/w', { network: 'allow-list', hosts }), 'the command');
    closing.push(() => endpoint.dispose());
    return endpoint;
  }

  const lineEnds = (text: string): string => text.replaceAll('\n', '\r\n');
  const ask = (text: string): Promise<string> => exchange(proxy.socketPath, lineEnds(text));

  async function serve(handle: (socket: Socket) => void): Promise<{ server: Server; port: number }> {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => {});
      closing.push(() => socket.destroy());
      handle(socket);
    });
    closing.push(() => server.close());
    const number = await listen(server);
    proxy = await open({}, number);
    return { server, port: number };
  }

  async function tunnelTo(number: number, host = 'app.test'): Promise<Socket> {
    const socket = connect({ path: proxy.socketPath, allowHalfOpen: true });
    socket.on('error', () => {});
    closing.push(() => socket.destroy());
    socket.write(`CONNECT ${host}:${number} HTTP/1.1\r\nHost: ${host}:${number}\r\n\r\n`);
    assert.match(await until(socket, '\r\n\r\n'), /^HTTP\/1\.1 200 /);
    return socket;
  }

  describe('as an HTTP proxy', () => {
    it('passes a request on, with its path, its own Host and without the headers of the connection', async () => {
      const answer = await ask(
        `POST http://APP.test:${port}/a%20b?c HTTP/1.1\nHost: app.test:${port}\nProxy-Authorization: Basic eA==\n` +
          `Proxy-Connection: keep-alive\nX-Mine: 1\nX-Gone: 2\nConnection: close, x-gone\nTE: trailers\nContent-Length: 4\n\nbody`,
      );
      assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
      assert.match(answer, /answer to POST \/a%20b\?c$/);
      assert.doesNotMatch(answer, /timeout=7/);
      const headers = [
        'Host',
        `app.test:${port}`,
        'X-Mine',
        '1',
        'Content-Length',
        '4',
        'Connection',
        'close',
      ];
      assert.deepEqual(seen, [{ method: 'POST', url: '/a%20b?c', headers, body: 'body' }]);
    });

    it('passes a body on in pieces, and says so', async () => {
      await ask(
        `POST http://app.test:${port}/ HTTP/1.1\nHost: app.test:${port}\nConnection: close\nTransfer-Encoding: chunked\n\n2\nab\n1\nc\n0\n\n`,
      );
      assert.equal(seen[0]?.body, 'abc');
      assert.ok(seen[0].headers.includes('Transfer-Encoding'));
    });

    it('serves several requests on one connection, to several hosts', async () => {
      const one = (host: string, more: string): string =>
        `GET http://${host}:${port}/${host} HTTP/1.1\nHost: ${host}:${port}\n${more}\n`;
      const answer = await ask(one('a.test', '') + one('b.test', '') + one('c.test', 'Connection: close\n'));
      assert.deepEqual(answer.match(/answer to GET \/\w\.test/g), [
        'answer to GET /a.test',
        'answer to GET /b.test',
        'answer to GET /c.test',
      ]);
    });

    const refused: readonly (readonly [what: string, text: string, answer: RegExp])[] = [
      [
        'an unknown host',
        'GET http://evil.example/ HTTP/1.1\nHost: evil.example\n\n',
        /403 .*evil\.example:80 is not/,
      ],
      [
        'a denied host',
        'GET http://denied.test:PORT/ HTTP/1.1\nHost: denied.test:PORT\n\n',
        /403 .*is denied by a rule/,
      ],
      ['another port', 'GET http://app.test:1/ HTTP/1.1\nHost: app.test:1\n\n', /403 .*app\.test:1 is not/],
      [
        'a local address',
        'GET http://10.0.0.1/ HTTP/1.1\nHost: 10.0.0.1\n\n',
        /403 .*10\.0\.0\.1:80 is a local/,
      ],
      [
        'loopback by name',
        'GET http://localhost:PORT/ HTTP/1.1\nHost: localhost:PORT\n\n',
        /403 .*is a local/,
      ],
      ['another Host', 'GET http://app.test:PORT/ HTTP/1.1\nHost: evil.example\n\n', /400 .*another host/],
      [
        'another port in Host',
        'GET http://app.test:PORT/ HTTP/1.1\nHost: app.test:1\n\n',
        /400 .*another host/,
      ],
      [
        'two Hosts',
        'GET http://app.test:PORT/ HTTP/1.1\nHost: app.test:PORT\nHost: app.test:PORT\n\n',
        /400 /,
      ],
      ['no Host', 'GET http://app.test:PORT/ HTTP/1.1\n\n', /400 /],
      ['a path alone', 'GET / HTTP/1.1\nHost: app.test:PORT\n\n', /400 .*http:\/\//],
      ['another scheme', 'GET https://app.test:PORT/ HTTP/1.1\nHost: app.test:PORT\n\n', /400 /],
      ['a user in front', 'GET http://app.test:PORT@evil.example/ HTTP/1.1\nHost: app.test:PORT\n\n', /400 /],
      ['port 0', 'GET http://app.test:0/ HTTP/1.1\nHost: app.test:0\n\n', /400 /],
      [
        'CONNECT without a port',
        'CONNECT app.test HTTP/1.1\nHost: app.test\n\n',
        /400 .*names no host and port/,
      ],
      [
        'CONNECT to an unknown host',
        'CONNECT evil.example:443 HTTP/1.1\n\n',
        /403 .*evil\.example:443 is not/,
      ],
      ['CONNECT to loopback', 'CONNECT 0x7f.1:1 HTTP/1.1\n\n', /403 .*127\.0\.0\.1:1 is a local/],
      [
        'CONNECT to mapped loopback',
        'CONNECT [::ffff:7f00:1]:1 HTTP/1.1\n\n',
        /403 .*127\.0\.0\.1:1 is a local/,
      ],
      ['nonsense', 'nonsense\n\n', /400 .*no HTTP request/],
      [
        'two lengths',
        'POST http://app.test:PORT/ HTTP/1.1\nHost: app.test:PORT\nContent-Length: 1\nContent-Length: 2\n\nab',
        /400 /,
      ],
      [
        'a length and pieces',
        'POST http://app.test:PORT/ HTTP/1.1\nHost: app.test:PORT\nContent-Length: 4\nTransfer-Encoding: chunked\n\n0\n\n',
        /400 /,
      ],
      [
        'pieces in disguise',
        'POST http://app.test:PORT/ HTTP/1.1\nHost: app.test:PORT\nTransfer-Encoding: chunked, x\n\n0\n\n',
        /400 /,
      ],
      [
        'a line without its return',
        'GET http://app.test:PORT/ HTTP/1.1\nHost: app.test:PORT\nA: b\\nC: d\n\n',
        /400 /,
      ],
      [
        'an upgrade with a body',
        'POST http://app.test:PORT/ HTTP/1.1\nHost: app.test:PORT\nConnection: upgrade\nUpgrade: x\nContent-Length: 1\n\na',
        /400 .*body/,
      ],
      [
        'an upgrade of an unknown host',
        'GET http://evil.example/ HTTP/1.1\nHost: evil.example\nConnection: upgrade\nUpgrade: websocket\n\n',
        /403 .*evil\.example/,
      ],
    ];
    for (const [what, text, answer] of refused) {
      it(`refuses ${what}`, async () => {
        const sent = lineEnds(text.replaceAll('PORT', String(port))).replace('\\n', '\n');
        const [head = ''] = (await exchange(proxy.socketPath, sent)).split('\r\n\r\n');
        assert.match(head, answer);
        assert.doesNotMatch(head.replaceAll('\r\n', ''), /[\r\n]/);
        assert.deepEqual(seen, []);
      });
    }

    it('says what was blocked, why, and what to do, in header, status line and body', async () => {
      const answer = await ask('GET http://evil.example/ HTTP/1.1\nHost: evil.example\n\n');
      const line = 'cordon: evil.example:80 is not on the allow-list of this folder';
      assert.ok(answer.startsWith(`HTTP/1.1 403 ${line}\r\n`));
      assert.match(answer, /\r\nx-cordon-blocked: allow-list\r\n/);
      assert.ok(answer.includes(`\r\n\r\n${line}.\n`));
      assert.match(answer, /add "evil\.example": "allow" to cordon\.sandbox\.hosts/);
      assert.deepEqual(
        proxy.blocked.map(({ time: _, ...rest }) => rest),
        [{ host: 'evil.example', port: 80, reason: 'allow-list' }],
      );
      assert.ok(
        lines.some((text) => text.includes('evil.example:80 is not') && text.includes('[the command]')),
      );
    });

    it('notes each host once', async () => {
      for (let round = 0; round < 3; round += 1) await ask('CONNECT evil.example:443 HTTP/1.1\n\n');
      await ask('CONNECT denied.test:443 HTTP/1.1\n\n');
      assert.deepEqual(
        proxy.blocked.map(({ host, reason }) => [host, reason]),
        [
          ['evil.example', 'allow-list'],
          ['denied.test', 'deny-list'],
        ],
      );
    });

    it('tells a host that cannot be reached from one that is blocked', async () => {
      web.closeAllConnections();
      web.close();
      const answer = await ask(`GET http://app.test:${port}/ HTTP/1.1\nHost: app.test:${port}\n\n`);
      assert.match(answer, /^HTTP\/1\.1 502 .*ECONNREFUSED/);
      assert.deepEqual(proxy.blocked, []);
    });

    it('says that a name does not resolve', async () => {
      proxy = await open({ lookup: () => Promise.reject(new Error('no such name')) }, port);
      assert.match(await ask(`CONNECT gone.test:${port} HTTP/1.1\n\n`), /^HTTP\/1\.1 502 .*does not resolve/);
    });

    it('breaks off an answer that breaks off', async () => {
      const { port: number } = await serve((socket) => {
        socket.once('data', () => {
          socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this');
          setImmediate(() => socket.resetAndDestroy());
        });
      });
      const socket = connect({ path: proxy.socketPath });
      socket.write(`GET http://app.test:${number}/ HTTP/1.1\r\nHost: app.test:${number}\r\n\r\n`);
      const answer = await collect(socket);
      assert.ok(answer === '' || (answer.includes('Content-Length: 100') && !answer.includes('cordon')));
    });

    it('upgrades to a WebSocket', async () => {
      web.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
        socket.write(
          `HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: ${request.headers.upgrade}\r\n\r\nfirst `,
        );
        socket.unshift(head);
        socket.once('data', (chunk: Buffer) => socket.end(`${request.url} ${chunk.toString()}`));
      });
      const answer = await ask(
        `GET http://app.test:${port}/chat HTTP/1.1\nHost: app.test:${port}\nConnection: Upgrade\nUpgrade: websocket\n\nmore`,
      );
      assert.match(answer, /^HTTP\/1\.1 101 [^]*Upgrade: websocket[^]*\r\n\r\nfirst \/chat more$/);
    });

    it('passes the answer on when a server does not want to upgrade', async () => {
      const answer = await ask(
        `GET http://app.test:${port}/x HTTP/1.1\nHost: app.test:${port}\nConnection: Upgrade\nUpgrade: h2c\n\n`,
      );
      assert.match(answer, /^HTTP\/1\.1 200 [^]*answer to GET \/x$/);
    });

    it('gives up what nobody waits for any more', async () => {
      const gone = Promise.withResolvers<void>();
      const { port: number } = await serve((socket) => {
        socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\nendless'));
        socket.once('close', () => gone.resolve());
        socket.once('end', () => gone.resolve());
      });
      const socket = connect({ path: proxy.socketPath });
      socket.write(`GET http://app.test:${number}/ HTTP/1.1\r\nHost: app.test:${number}\r\n\r\n`);
      await until(socket, 'endless');
      socket.destroy();
      await gone.promise;
    });
  });

  describe('as a tunnel', () => {
    it('ends each direction when its sender does', async () => {
      const { port: number } = await serve((socket) => {
        void collectHalf(socket).then((text) => socket.end(`got ${text}`));
      });
      const socket = await tunnelTo(number);
      socket.end('all of it');
      assert.equal(await collect(socket), 'got all of it');
    });

    it('lets the server speak first', async () => {
      const { port: number } = await serve((socket) => socket.end('SSH-2.0-hello'));
      const socket = connect({ path: proxy.socketPath });
      socket.write(`CONNECT app.test:${number} HTTP/1.1\r\n\r\n`);
      assert.match(await collect(socket), /SSH-2\.0-hello$/);
    });

    it('does not read on while the receiver is slow', async () => {
      let sent = 0;
      const { port: number } = await serve((socket) => {
        const chunk = Buffer.alloc(64 * 1024);
        const push = (): void => {
          while (sent < 256 * 1024 * 1024) {
            sent += chunk.length;
            if (!socket.write(chunk)) return;
          }
          socket.end();
        };
        socket.on('drain', push);
        socket.on('data', () => {});
        push();
      });
      const socket = await tunnelTo(number);
      socket.pause();
      let before = -1;
      // Until nothing moves any more.
      while (before !== sent) {
        before = sent;
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
      assert.ok(sent < 64 * 1024 * 1024, `${sent} bytes were taken with nobody reading`);
    });

    it('refuses a handshake with a host that is not allowed', async () => {
      let contacts = 0;
      const { port: number } = await serve((socket) => socket.on('data', () => (contacts += 1)));
      const client = connectTls({ socket: await tunnelTo(number), servername: 'evil.example' });
      const [error] = (await once(client, 'error')) as [Error];
      assert.ok(error);
      assert.equal(contacts, 0);
      assert.deepEqual(
        proxy.blocked.map(({ host, reason }) => [host, reason]),
        [['evil.example', 'server-name']],
      );
    });

    it('lets a handshake with the admitted host through, whole', async () => {
      const hello = Promise.withResolvers<Buffer>();
      const { port: number } = await serve((socket) => socket.once('data', hello.resolve));
      connectTls({ socket: await tunnelTo(number), servername: 'app.test' }).on('error', () => {});
      assert.equal((await hello.promise)[0], 22);
      assert.deepEqual(proxy.blocked, []);
    });

    it('is closed on both sides with the endpoint', async () => {
      const ended = Promise.withResolvers<void>();
      const { port: number } = await serve((socket) => {
        socket.resume();
        socket.once('end', () => ended.resolve());
        socket.once('close', () => ended.resolve());
      });
      const socket = await tunnelTo(number);
      const closed = once(socket, 'close');
      socket.resume();
      socket.on('end', () => socket.end());
      proxy.dispose();
      await Promise.all([closed, ended.promise]);
      assert.ok(!existsSync(proxy.socketPath));
    });
  });

  describe('as a SOCKS5 proxy', () => {
    const hello = [5, 1, 0];
    const portBytes = (number: number): number[] => [number >> 8, number & 0xff];
    const named = (name: string, number: number, command = 1): number[] => [
      ...[5, command, 0, 3, name.length],
      ...Buffer.from(name),
      ...portBytes(number),
    ];
    const send = (...bytes: readonly number[]): Promise<string> =>
      exchange(proxy.socketPath, Buffer.from(bytes));
    const http = [...Buffer.from('GET /s HTTP/1.0\r\n\r\n')];

    it('connects to names and addresses', async () => {
      for (const request of [
        named('app.test', port),
        named('127.0.0.1', port),
        named('127.1', port),
        [5, 1, 0, 1, 127, 0, 0, 1, ...portBytes(port)],
        [5, 1, 0, 4, ...Array<number>(10).fill(0), 255, 255, 127, 0, 0, 1, ...portBytes(port)],
      ]) {
        const answer = await send(...hello, ...request, ...http);
        assert.ok(answer.startsWith('\x05\0\x05\0\0\x01\0\0\0\0\0\0HTTP/1.1 200 OK'), answer);
      }
    });

    it('takes its requests byte by byte', async () => {
      const socket = connect({ path: proxy.socketPath });
      for (const byte of [...hello, ...named('app.test', port), ...http]) {
        socket.write(Buffer.from([byte]));
        await new Promise((resolve) => setImmediate(resolve));
      }
      assert.match(await collect(socket), /answer to GET \/s$/);
    });

    const refused: readonly (readonly [what: string, request: readonly number[], answer: string])[] = [
      ['an unknown host', named('evil.example', 443), '\x05\0\x05\x02'],
      ['a denied host', named('denied.test', 443), '\x05\0\x05\x02'],
      ['loopback', named('localhost', 1), '\x05\0\x05\x02'],
      ['metadata', [5, 1, 0, 1, 169, 254, 169, 254, 0, 80], '\x05\0\x05\x02'],
      ['what is not a host', named('a b', 1), '\x05\0\x05\x02'],
      ['port 0', named('app.test', 0), '\x05\0\x05\x02'],
      ['UDP', named('app.test', 53, 3), '\x05\0\x05\x07'],
      ['to be connected to', named('app.test', 53, 2), '\x05\0\x05\x07'],
      ['an unknown kind of address', [5, 1, 0, 9, 0, 0, 0, 0], '\x05\0\x05\x08'],
    ];
    for (const [what, request, answer] of refused) {
      it(`refuses ${what}`, async () => {
        assert.ok((await send(...hello, ...request)).startsWith(answer));
      });
    }

    it('refuses a login, and SOCKS4', async () => {
      assert.equal(await send(5, 1, 2), '\x05\xff');
      assert.doesNotMatch(await send(4, 1, 0, 80, 127, 0, 0, 1, 0, 13, 10, 13, 10), /^\0/);
    });

    it('tells a host that does not answer', async () => {
      web.closeAllConnections();
      web.close();
      assert.equal((await send(...hello, ...named('app.test', port))).charCodeAt(3), 5);
    });

    it('survives clients that go away in the middle', async () => {
      const whole = [...hello, ...named('app.test', port)];
      for (let length = 0; length < whole.length; length += 1) {
        const socket = connect({ path: proxy.socketPath });
        socket.end(Buffer.from(whole.slice(0, length)));
        await collect(socket);
      }
      assert.match(await send(...whole, ...http), /200 OK/);
    });
  });

  describe('behind a proxy of the machine', () => {
    let requests: { line: string; authorization: string | undefined }[];
    let url: string;

    beforeEach(async () => {
      requests = [];
      const upstream = createHttpServer((request, response) => {
        requests.push({
          line: `${request.method} ${request.url}`,
          authorization: request.headers['proxy-authorization'],
        });
        response.end('through the other proxy');
      });
      upstream.on('connect', (request: IncomingMessage, socket: Socket) => {
        requests.push({
          line: `CONNECT ${request.url}`,
          authorization: request.headers['proxy-authorization'],
        });
        if (request.url?.startsWith('forbidden') === true) {
          socket.end('HTTP/1.1 407 No\r\n\r\n');
          return;
        }
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        socket.end('through the tunnel');
      });
      const number = await listen(upstream);
      closing.push(() => {
        upstream.closeAllConnections();
        upstream.close();
      });
      url = `http://ann:s%3Acret@127.0.0.1:${number}`;
      proxy = await open(
        {
          lookup: async (name) => (name.startsWith('unknown') ? [] : ['93.184.216.34']),
          upstream: () => ({ url, except: ['direct.test'] }),
        },
        80,
        port,
      );
    });
    const authorization = `Basic ${Buffer.from('ann:s:cret').toString('base64')}`;

    it('sends plain requests and tunnels through it, with its credentials', async () => {
      const answer = await ask('GET http://app.test/x HTTP/1.1\nHost: app.test\nConnection: close\n\n');
      assert.match(answer, /through the other proxy$/);
      assert.match(await ask('CONNECT app.test:80 HTTP/1.1\n\n'), /200 [^]*through the tunnel$/);
      assert.deepEqual(requests, [
        { line: 'GET http://app.test/x', authorization },
        { line: 'CONNECT app.test:80', authorization },
      ]);
    });

    it('leaves names that this machine cannot resolve to it', async () => {
      assert.match(await ask('CONNECT unknown.test:80 HTTP/1.1\n\n'), /through the tunnel$/);
    });

    it('does not send it what is not allowed, nor what is local', async () => {
      assert.match(await ask('CONNECT evil.example:80 HTTP/1.1\n\n'), /403 /);
      assert.match(
        await ask(`GET http://127.0.0.1:${port}/ HTTP/1.1\nHost: 127.0.0.1:${port}\nConnection: close\n\n`),
        /answer to GET/,
      );
      assert.deepEqual(requests, []);
    });

    it('tells nothing of it but its answer', async () => {
      const answer = await ask('CONNECT forbidden.test:80 HTTP/1.1\n\n');
      assert.match(answer, /^HTTP\/1\.1 502 .*upstream proxy: 407/);
      assert.doesNotMatch(answer, /cret|127\.0\.0\.1/);
    });

    it('fails with a proxy that it cannot use', async () => {
      url = 'socks5://127.0.0.1:1';
      assert.match(await ask('CONNECT app.test:80 HTTP/1.1\n\n'), /^HTTP\/1\.1 502 .*not a plain HTTP one/);
    });
  });

  it('asks the person about unknown hosts, naming the command', async () => {
    const questions: string[] = [];
    proxy = await open({
      decide: async ({ host, port: number, label }) => {
        questions.push(`${label}: ${host}:${number}`);
        return 'deny';
      },
    });
    await ask('CONNECT unknown.example:443 HTTP/1.1\n\n');
    assert.deepEqual(questions, ['the command: unknown.example:443']);
  });

  it('has a socket for each command, and leaves none behind', async () => {
    const other = await open({}, port);
    assert.notEqual(other.socketPath, proxy.socketPath);
    assert.equal(readdirSync(folder).length, 2);
    await exchange(other.socketPath, 'CONNECT evil.example:443 HTTP/1.1\r\n\r\n');
    assert.equal(other.blocked.length, 1);
    assert.equal(proxy.blocked.length, 0);
    other.dispose();
    proxy.dispose();
    assert.deepEqual(readdirSync(folder), []);
  });

  it('removes what runtimes that were killed have left, and nothing that is in use', async () => {
    const abandoned = join(folder, 'net-abandoned.sock');
    const script = `require('node:net').createServer().listen(${JSON.stringify(abandoned)}, () => process.kill(process.pid, 'SIGKILL'))`;
    assert.throws(() => execFileSync(process.execPath, ['-e', script]));
    const young = await open({}, port);
    assert.ok(existsSync(abandoned), 'it may be about to be listened on');
    for (const path of [abandoned, proxy.socketPath]) utimesSync(path, 0, 0);
    await open({}, port);
    assert.deepEqual(
      [abandoned, proxy.socketPath, young.socketPath].map((path) => existsSync(path)),
      [false, true, true],
    );
  });

  it('reads the usual variables for the proxy of the machine', () => {
    assert.equal(upstreamFromEnvironment({}), undefined);
    assert.deepEqual(upstreamFromEnvironment({ HTTP_PROXY: 'a', HTTPS_PROXY: 'b', NO_PROXY: 'x, .y' }), {
      url: 'b',
      except: ['x', '.y'],
    });
  });

  it('prefers an editor’s settings to the usual variables, and takes from those what they leave open', () => {
    const env = { HTTPS_PROXY: 'b', NO_PROXY: 'x' };
    const from = (proxy: unknown, noProxy: unknown, more: Partial<ProxySettings> = {}) =>
      upstreamFromSettings(
        { proxy, noProxy, proxyAuthorization: null, proxySupport: 'override', ...more },
        env,
      );
    assert.deepEqual(from('http://a', ['y', 3]), { url: 'http://a', except: ['y'] });
    assert.deepEqual(from('http://a', []), { url: 'http://a', except: ['x'] });
    for (const nothing of [undefined, '', ' ', 7]) {
      assert.deepEqual(from(nothing, ['y']), { url: 'b', except: ['x'] });
    }
    const authorization = 'Negotiate abc';
    assert.deepEqual(from('http://a', [], { proxyAuthorization: authorization }), {
      ...{ url: 'http://a', except: ['x'], authorization },
    });
    assert.equal(from('', [], { proxyAuthorization: authorization })?.authorization, authorization);
    for (const none of ['', ' ', 7, 'a\r\nX-Other: b', 'ü']) {
      assert.equal(
        from('http://a', [], { proxyAuthorization: none })?.authorization,
        undefined,
        String(none),
      );
    }
    assert.equal(from('http://a', [], { proxySupport: 'off' }), undefined);
    assert.equal(from('', [], { proxySupport: 'off' }), undefined);
  });

  it('refuses to open under a rule that is none', async () => {
    const network = new NetworkProxy({ folder, log: { debug() {}, info() {}, warn() {}, error() {} } });
    const policy = policyOf('/w', { hosts: { allow: [], deny: [{ host: 'a b' }] } });
    await assert.rejects(network.open(policy, ''), /"a b"/);
  });

  async function collectHalf(socket: Socket): Promise<string> {
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await once(socket, 'end');
    return text;
  }
});
