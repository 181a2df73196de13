import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createSecureServer } from 'node:https';
import { join } from 'node:path';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import type { ParamsFor, ResultOf } from '../../../src/runtime/execServer/protocol/methods.ts';
import type { HttpServiceOptions } from '../../../src/runtime/execServer/services/http/httpService.ts';
import { AnswerBudget } from '../../../src/runtime/execServer/server/answerBudget.ts';
import { httpService } from '../../../src/runtime/execServer/services/http/httpService.ts';
import type { NetworkFlags } from '../../../src/runtime/execServer/services/http/serverNetwork.ts';
import { readServerNetwork } from '../../../src/runtime/execServer/services/http/serverNetwork.ts';
import { ServiceBench } from '../../harness/servedConnection.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';
import { waitFor } from '../../harness/waitFor.ts';

type Answerer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

describe('http/request', function () {
  this.timeout(30_000);
  const servers: Server[] = [];
  const benches: ServiceBench[] = [];
  let base: string;
  let port: number;
  let seen: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[];
  let answer: Answerer;

  const listen = async (onRequest: Answerer): Promise<number> => {
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString()));
      request.on('end', () => onRequest(request, response, body));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    servers.push(server);
    return (server.address() as AddressInfo).port;
  };

  beforeEach(async () => {
    seen = [];
    answer = (_request, response) => response.end('hello');
    port = await listen((request, response, body) => {
      seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
      answer(request, response, body);
    });
    base = `http://127.0.0.1:${port}`;
  });

  afterEach(() => {
    benches.splice(0).forEach((bench) => bench.close());
    servers.splice(0).forEach((server) => {
      server.closeAllConnections();
      server.close();
    });
  });

  const bench = (options: Partial<HttpServiceOptions> = {}): ServiceBench => {
    const answers = new AnswerBudget(256 * 1024 * 1024);
    const made = new ServiceBench(httpService({ upstream: () => undefined, answers, ...options }));
    benches.push(made);
    return made;
  };
  type Params = Partial<ParamsFor<'http/request'>>;
  const ask = (params: Params, from = bench()): Promise<ResultOf<'http/request'>> =>
    from.call('http/request', { method: 'GET', url: `${base}/`, requestId: 'r', ...params });
  const text = ({ bodyBase64 }: ResultOf<'http/request'>): string =>
    Buffer.from(bodyBase64, 'base64').toString();
  const fails = async (code: number, message: RegExp, params: Params, from = bench()): Promise<void> => {
    await assert.rejects(ask(params, from), (error: Error & { code: number }) => {
      assert.equal(error.code, code, error.message);
      assert.match(error.message, message);
      return true;
    });
  };
  const network = (flags: NetworkFlags, lookup?: HttpServiceOptions['lookup']): ServiceBench => {
    const read = readServerNetwork(flags);
    assert.ok(read.ok, read.ok ? '' : read.error);
    return bench({ network: read.value, ...(lookup && { lookup }) });
  };

  it('sends method, headers and body as they are, and what every request carries', async () => {
    answer = (_request, response) =>
      response
        .writeHead(
          201,
          [
            ['x-a', '1'],
            ['X-A', 'ü'],
            ['set-cookie', 'c=d'],
          ].flat(),
        )
        .end('done');
    const result = await ask({
      method: 'PATCH',
      url: `${base}/path?query`,
      headers: [
        { name: 'X-One', value: 'v' },
        { name: 'x-two', value: 'ü' },
      ],
      bodyBase64: Buffer.from('data').toString('base64'),
    });
    const [request] = seen;
    assert.deepEqual([request?.method, request?.url, request?.body], ['PATCH', '/path?query', 'data']);
    assert.deepEqual(
      [request?.headers['x-one'], request?.headers['accept'], request?.headers['accept-encoding']],
      ['v', '*/*', 'zstd, gzip'],
    );
    assert.equal(Buffer.from(request?.headers['x-two'] as string, 'latin1').toString(), 'ü');
    assert.equal(request?.headers['user-agent'], undefined);
    assert.deepEqual([result.status, text(result)], [201, 'done']);
    assert.ok(result.headers.some(({ name, value }) => name === 'set-cookie' && value === 'c=d'));
  });

  it('does not send its own where the client says otherwise', async () => {
    await ask({
      headers: [
        { name: 'Accept', value: 'text/plain' },
        { name: 'range', value: 'bytes=0-1' },
      ],
    });
    assert.deepEqual(
      [seen[0]?.headers['accept'], seen[0]?.headers['accept-encoding']],
      ['text/plain', undefined],
    );
  });

  for (const [encoding, pack] of [
    ['gzip', gzipSync],
    ['zstd', zstdCompressSync],
  ] as const) {
    it(`unpacks ${encoding}, and says nothing of the packing`, async () => {
      answer = (_request, response) =>
        response.setHeader('content-encoding', encoding).end(pack(Buffer.from('packed')));
      const result = await ask({});
      assert.equal(text(result), 'packed');
      assert.ok(result.headers.every(({ name }) => !['content-encoding', 'content-length'].includes(name)));
    });
  }

  it('fails on a body that is packed wrongly', async () => {
    answer = (_request, response) => response.setHeader('content-encoding', 'gzip').end('not packed');
    await fails(-32_603, new RegExp(`http/request to ${base} failed`), {});
  });

  it('appends a variable of the server to a header', async () => {
    const from = bench({ environment: { TOKEN: 's3cret', EMPTY: '' } });
    await ask({ headers: [{ name: 'authorization', value: 'Bearer ', valueEnvVar: 'TOKEN' }] }, from);
    assert.equal(seen[0]?.headers['authorization'], 'Bearer s3cret');
    for (const name of ['MISSING', 'EMPTY']) {
      await fails(
        -32_602,
        /not set or empty/,
        { headers: [{ name: 'a', value: '', valueEnvVar: name }] },
        from,
      );
    }
  });

  it('but none that is the person’s or the server’s own', async () => {
    const names = [
      'OPENAI_API_KEY',
      'openai_api_key',
      'AWS_SECRET_ACCESS_KEY',
      'GOOGLE_APPLICATION_CREDENTIALS',
      'CORDON_TOKEN',
    ];
    const from = bench({ environment: Object.fromEntries(names.map((name) => [name, 'x'])) });
    for (const name of names) {
      await fails(
        -32_602,
        /protected variable/,
        { headers: [{ name: 'a', value: '', valueEnvVar: name }] },
        from,
      );
    }
    assert.equal(seen.length, 0);
  });

  const malformed: readonly (readonly [string, Params])[] = [
    ['a method', { method: 'GE T' }],
    ['a tunnel', { method: 'CONNECT' }],
    ['an address', { url: 'nowhere' }],
    ['a scheme', { url: 'ftp://127.0.0.1/' }],
    ['a header name', { headers: [{ name: 'a b', value: '' }] }],
    ['a header value', { headers: [{ name: 'a', value: 'b\r\nc: d' }] }],
    ['a header that is not the client’s', { headers: [{ name: 'transfer-encoding', value: 'chunked' }] }],
    ['a body', { bodyBase64: 'a' }],
  ];
  for (const [what, params] of malformed) {
    it(`refuses ${what} that is not valid`, async () => {
      await fails(-32_602, /^http\/request /, params);
      assert.equal(seen.length, 0);
    });
  }

  it('believes no server that nobody vouches for', async () => {
    const folder = await createTemporaryFolder('certificate');
    const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder.path, name)) as [string, string];
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=localhost'],
        ...['-keyout', key, '-out', cert],
      ],
      { stdio: 'ignore' },
    );
    const secure = createSecureServer(
      { key: readFileSync(key), cert: readFileSync(cert) },
      (_request, response) => response.end(),
    );
    await folder.dispose();
    secure.listen(0, '127.0.0.1');
    await once(secure, 'listening');
    const url = `https://127.0.0.1:${(secure.address() as AddressInfo).port}/`;
    await fails(-32_603, /https:\/\/127\.0\.0\.1:\d+ failed: self-signed certificate/, { url });
    secure.close();
  });

  it('names a host that does not answer', async () => {
    await fails(-32_603, /127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\)/, { url: 'http://127.0.0.1:1/' });
  });

  it('takes its time where the limit is longer than any timer', async () => {
    answer = (_request, response) => void setTimeout(() => response.end('late'), 100);
    for (const timeoutMs of [2 ** 31, 2 ** 40]) {
      assert.equal(text(await ask({ timeoutMs })), 'late');
    }
  });

  it('gives up when the time is over, before the answer and within it', async () => {
    answer = () => {};
    await fails(-32_603, /timed out/, { timeoutMs: 50 });
    answer = (_request, response) => void response.write('a');
    await fails(-32_603, /timed out/, { timeoutMs: 200 });
  });

  describe('redirects', () => {
    const to = (status: number, location: string): void => {
      answer = (request, response) => {
        if (request.url === '/') response.writeHead(status, { location });
        response.end(`${request.method} ${request.url}`);
      };
    };

    it('are followed unless they are to be left', async () => {
      to(302, '/next');
      assert.deepEqual([(await ask({})).status, text(await ask({}))], [200, 'GET /next']);
      assert.equal((await ask({ redirectPolicy: 'stop' })).status, 302);
    });

    it('keep the method and the body only where they mean it', async () => {
      const post = { method: 'POST', bodyBase64: 'eA==', headers: [{ name: 'content-type', value: 'a/b' }] };
      to(303, '/next');
      assert.equal(text(await ask(post)), 'GET /next');
      assert.deepEqual([seen[1]?.body, seen[1]?.headers['content-type']], ['', undefined]);
      to(307, '/next');
      assert.equal(text(await ask(post)), 'POST /next');
      assert.deepEqual([seen[3]?.body, seen[3]?.headers['content-type']], ['x', 'a/b']);
    });

    it('end at ten, or where they lead nowhere', async () => {
      to(302, '/');
      await fails(-32_603, /more than 10 redirects/, {});
      assert.equal(seen.length, 11);
      to(302, 'file:///etc/passwd');
      await fails(-32_603, /redirects to nowhere/, {});
    });

    it('take no credentials to another server', async () => {
      const others: IncomingMessage['headers'][] = [];
      const other = await listen((request, response) => {
        others.push(request.headers);
        response.end();
      });
      to(307, `http://127.0.0.1:${other}/`);
      const headers = [
        { name: 'Authorization', value: 'a' },
        { name: 'Cookie', value: 'b' },
        { name: 'x-key', value: '', valueEnvVar: 'KEY' },
        { name: 'x-plain', value: 'c' },
      ];
      await ask({ headers }, bench({ environment: { KEY: 'k' } }));
      const [received] = others;
      assert.deepEqual(
        [received?.['authorization'], received?.['cookie'], received?.['x-key'], received?.['x-plain']],
        [undefined, undefined, undefined, 'c'],
      );
      assert.equal(seen[0]?.headers['x-key'], 'k');
    });
  });

  describe('streamed', () => {
    const deltas = (from: ServiceBench) =>
      from.sent.map(
        ({ params }) => params as { seq: number; deltaBase64: string; done: boolean; error: string | null },
      );

    it('comes in numbered pieces of at most a mebibyte, the last one empty', async () => {
      const body = Buffer.alloc(3_000_000, 'x');
      answer = (_request, response) => response.end(body);
      const from = bench();
      const result = await ask({ streamResponse: true, requestId: 's' }, from);
      assert.deepEqual([result.status, result.bodyBase64, from.sent.length], [200, '', 0]);
      await waitFor('the end', () => deltas(from).at(-1)?.done);
      const pieces = deltas(from).map(({ deltaBase64 }) => Buffer.from(deltaBase64, 'base64'));
      assert.ok(Buffer.concat(pieces).equals(body));
      assert.ok(pieces.every(({ length }) => length <= 1_048_576));
      assert.deepEqual(
        deltas(from).map(({ seq }) => seq),
        pieces.map((_, index) => index + 1),
      );
      assert.deepEqual([pieces.at(-1)?.length, deltas(from).at(-1)?.error], [0, null]);
      assert.ok(from.sent.every(({ params }) => params['requestId'] === 's'));
    });

    it('waits for a client that does not take it', async () => {
      let written = 0;
      answer = (_request, response) => {
        const more = (): void => {
          while (written < 64_000_000 && response.write(Buffer.alloc(65_536))) written += 65_536;
        };
        response.on('drain', more);
        more();
      };
      const from = bench();
      from.hold();
      await ask({ streamResponse: true }, from);
      await waitFor('the first piece', () => from.sent.length > 0);
      let before = -1;
      await waitFor('the sender to stop', async () => {
        const isStill = before === written;
        before = written;
        await new Promise((resolve) => setTimeout(resolve, 200));
        return isStill;
      });
      assert.equal(from.sent.length, 1);
      assert.ok(written < 64_000_000);
      from.release();
      await waitFor('more', () => from.sent.length > 10);
    });

    it('cannot share its name with another one while it lasts', async () => {
      answer = (_request, response) => void response.write('a');
      const from = bench();
      await ask({ streamResponse: true, requestId: 'same' }, from);
      await fails(-32_602, /"same" is still streaming/, { streamResponse: true, requestId: 'same' }, from);
      await fails(-32_602, /"same" is still streaming/, { requestId: 'same' }, from);
      answer = (_request, response) => response.end('b');
      assert.equal(text(await ask({ requestId: 'other' }, from)), 'b');
      servers[0]?.closeAllConnections();
      await waitFor('the failed end', () => deltas(from).at(-1)?.done);
      assert.match(deltas(from).at(-1)?.error ?? '', new RegExp(`http/request to ${base} failed`));
      assert.equal(text(await ask({ requestId: 'same' }, from)), 'b');
    });

    it('frees its name when it fails before the answer', async () => {
      const from = bench();
      await fails(-32_603, /ECONNREFUSED/, { streamResponse: true, url: 'http://127.0.0.1:1/' }, from);
      assert.equal((await ask({ streamResponse: true }, from)).status, 200);
    });

    it('ends with the connection', async () => {
      let socket: Socket | undefined;
      answer = (request, response) => {
        socket = request.socket;
        response.write('a');
      };
      const from = bench();
      await ask({ streamResponse: true }, from);
      from.close();
      await waitFor('the socket to be closed', () => socket?.destroyed);
      assert.ok(deltas(from).every(({ done }) => !done));
    });
  });

  describe('under a network policy', () => {
    const local = (name: string) => async (asked: string) => (asked === name ? ['127.0.0.1'] : []);

    it('reaches nothing when it is off', async () => {
      await fails(
        -32_603,
        new RegExp(`127\\.0\\.0\\.1:${port} cannot be reached: the network of this exec-server is off`),
        {},
        network({ network: 'off' }),
      );
      assert.equal(seen.length, 0);
    });

    it('reaches what is allowed, and names what is not', async () => {
      const from = network({ network: 'allow-list', allowHost: [`127.0.0.1:${port}`] });
      assert.equal(text(await ask({}, from)), 'hello');
      await fails(
        -32_603,
        /example\.org:443 is not on the allow-list of this exec-server/,
        { url: 'https://example.org/' },
        from,
      );
    });

    it('reaches no local address behind an allowed name', async () => {
      const from = network({ allowHost: ['rebind.example'] }, local('rebind.example'));
      await fails(
        -32_603,
        /rebind\.example:\d+ is a local address/,
        { url: `http://rebind.example:${port}/` },
        from,
      );
      assert.equal(seen.length, 0);
    });

    it('nor by a redirect', async () => {
      const inner = await listen((_request, response) => response.end('inner'));
      answer = (_request, response) =>
        response.writeHead(302, { location: `http://127.0.0.1:${inner}/` }).end();
      const from = network({ allowHost: [`127.0.0.1:${port}`] });
      await fails(-32_603, new RegExp(`127\\.0\\.0\\.1:${inner} is`), {}, from);
      assert.equal(text(await ask({})), 'inner');
    });

    it('reaches all but what is denied, whatever its name', async () => {
      const from = network({ denyHost: ['127.0.0.0/8'] }, local('alias.example'));
      await fails(-32_603, /127\.0\.0\.1:\d+ is denied on this exec-server/, {}, from);
      await fails(-32_603, /alias\.example:\d+ is denied/, { url: `http://alias.example:${port}/` }, from);
      const open = network({ network: 'on' }, local('alias.example'));
      assert.equal(text(await ask({ url: `http://alias.example:${port}/` }, open)), 'hello');
    });

    it('goes through the proxy that the machine is behind', async () => {
      const asked: string[] = [];
      const proxy = createTcpServer((socket) => {
        socket.once('data', (head: Buffer) => {
          asked.push(head.toString().split('\r\n')[0] ?? '');
          socket.write('HTTP/1.1 200 OK\r\n\r\n');
          socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nproxied'));
        });
      });
      proxy.listen(0, '127.0.0.1');
      await once(proxy, 'listening');
      const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      const from = bench({ upstream: () => ({ url, except: [] }), lookup: async () => [] });
      assert.equal(text(await ask({ url: 'http://far.example/' }, from)), 'proxied');
      assert.deepEqual(asked, ['CONNECT far.example:80 HTTP/1.1']);
      proxy.close();
    });

    for (const [flags, expected] of [
      [{ network: 'sometimes' }, /--network is "sometimes"/],
      [{ network: 'on', allowHost: ['a.example'] }, /--allow-host counts with/],
      [{ allowHost: ['https://a'] }, /--allow-host is "https:\/\/a", but must be/],
      [{ denyHost: ['a b'] }, /--deny-host is "a b"/],
    ] as const) {
      it(`does not start with ${JSON.stringify(flags)}`, () => {
        const read = readServerNetwork(flags);
        assert.ok(!read.ok);
        assert.match(read.error, expected);
      });
    }
  });
});
