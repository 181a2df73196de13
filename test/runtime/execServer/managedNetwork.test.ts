import assert from 'node:assert/strict';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo, Server as SocketServer } from 'node:net';
import { createServer as createSocketServer } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { TestClient, WireMessage } from '../../harness/execServer.ts';
import { TestServer } from '../../harness/execServer.ts';
import { listen } from '../../harness/proxyClient.ts';
import { contextOf, place } from '../../harness/sandboxContexts.ts';
import type { TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';
import { waitFor } from '../../harness/waitFor.ts';

/** Asks the proxy whatever the address is; without `-f` a refusal is an answer like any other. */
const curl = 'curl -sS -f --noproxy "" --max-time 20';
const context = (network: 'restricted' | 'enabled' = 'restricted'): object =>
  contextOf([place('root', 'read')], { network });

interface ProxyWords {
  readonly [word: string]: unknown;
  readonly timeoutMs?: number;
}

/** A start with a network proxy. */
function proxied({ timeoutMs, ...words }: ProxyWords = {}): object {
  return {
    sandbox: context(),
    enforceManagedNetwork: true,
    networkProxy: {
      proxy: {
        enabled: true,
        enableSocks5: true,
        enableSocks5Udp: false,
        allowUpstreamProxy: false,
        dangerouslyAllowAllUnixSockets: false,
        mode: 'full',
        allowLocalBinding: false,
        ...words,
      },
      ...(timeoutMs !== undefined && { policyDecisionTimeoutMs: timeoutMs }),
    },
  };
}

describe('The managed network of a start', function () {
  this.timeout(120_000);
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let server: TestServer;
  let client: TestClient;
  let web: Server;
  let other: Server;
  let port: number;
  let otherPort: number;
  let seen: string[];
  let count = 0;

  before(async () => {
    server = await TestServer.start(undefined, {
      ...process.env,
      HTTP_PROXY: 'http://user:secret@127.0.0.1:1',
    });
    web = createServer((request, response) => {
      seen.push(`${request.method} ${request.headers.host} ${request.url}`);
      const target = /^\/to\/(.*)$/.exec(request.url ?? '')?.[1];
      response.writeHead(target === undefined ? 200 : 302, target === undefined ? {} : { location: target });
      response.end('hello');
    });
    other = createServer((_request, response) => response.end('other'));
    port = await listen(web);
    otherPort = await listen(other);
  });
  after(async () => {
    await server.stop();
    [web, other].forEach((one) => {
      one.closeAllConnections();
      one.close();
    });
  });
  beforeEach(async () => {
    seen = [];
    client = await server.connect();
  });
  afterEach(() => client.close());

  interface Outcome {
    readonly exitCode: number;
    readonly output: string;
    readonly exit: Readonly<Record<string, unknown>>;
    readonly end: { readonly blockedRequests?: readonly { host: string; port: number; reason: string }[] };
    /** Of the network alone. */
    readonly notes: readonly WireMessage[];
  }

  async function run(script: string, extra: object): Promise<Outcome> {
    const id = `network ${++count}`;
    await client.script(id, script, extra);
    const exitCode = await client.closed(id);
    const events = client.eventsOf(id);
    const of = (method: string) => events.find((event) => event.method === method)?.params ?? {};
    return {
      exitCode,
      output: client.outputOf(id).toString(),
      exit: of('process/exited'),
      end: of('process/closed')['cordon'] ?? {},
      notes: events.filter(({ method }) => method?.startsWith('network/')),
    };
  }

  /** What a client tells about decisions, without the time. */
  function decisions({ notes }: Outcome): readonly object[] {
    return notes
      .filter(({ method }) => method === 'network/policyDecision')
      .map(({ params }) => {
        const { timestamp, processId, ...rest } = params ?? {};
        assert.match(String(timestamp), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
        assert.match(String(processId), /^network \d+$/);
        return rest;
      });
  }

  /** Answers every question so, and returns the questions. */
  function answering(
    answer: (request: { protocol: string; host: string; port: number }) => object | undefined,
  ): WireMessage[] {
    const asked: WireMessage[] = [];
    client.onNote = (message) => {
      client.notes.push(message);
      if (message.method === 'network/policyRequest') {
        asked.push(message);
        const given = answer(message.params?.['request'] as { protocol: string; host: string; port: number });
        if (given !== undefined) {
          client.send({ id: message.id, ...given });
        }
      }
    };
    return asked;
  }
  const allow = { result: { decision: { type: 'allow' } } };

  const site = (name: string): string => `http://${name}:${port}/`;

  it('lets through what domains allow, and tells it as the reference does', async () => {
    const outcome = await run(`${curl} ${site('127.0.0.1')}`, proxied({ domains: { '127.0.0.1': 'allow' } }));
    assert.deepEqual([outcome.exitCode, outcome.output], [0, 'hello']);
    assert.deepEqual(decisions(outcome), [
      {
        scope: 'domain',
        decision: 'allow',
        source: 'baseline_policy',
        reason: 'allow',
        protocol: 'http',
        host: '127.0.0.1',
        port,
        method: 'GET',
        policyOverride: false,
      },
    ]);
    assert.deepEqual(outcome.end, {});
  });

  it('answers SOCKS, but carries no UDP, whatever is asked for', async () => {
    // Greeting without a password, then UDP ASSOCIATE: 7 is "command not supported" (RFC 1928).
    const script = `const socket = require('node:net').connect(3128, '127.0.0.1', () => socket.write('\\x05\\x01\\0'));
      socket.once('data', () => { socket.write('\\x05\\x03\\0\\x01\\0\\0\\0\\0\\0\\0'); socket.once('data', (answer) => { process.stdout.write(String(answer[1])); socket.destroy(); }); });`;
    const outcome = await run(
      `${process.execPath} -e "${script}"`,
      proxied({ enableSocks5: true, enableSocks5Udp: true }),
    );
    assert.deepEqual([outcome.exitCode, outcome.output], [0, '7']);
  });

  const rules: readonly (readonly [string, ProxyWords, string, string])[] = [
    ['a host in no rule', {}, 'example.org', 'allow-list'],
    ['a host that is "none"', { domains: { 'example.org': 'none' } }, 'example.org', 'allow-list'],
    [
      'a host that is denied under a wildcard',
      { domains: { '*': 'allow', 'example.org': 'deny' } },
      'example.org',
      'deny-list',
    ],
    [
      'a denied host with a port, on any other',
      { domains: { '127.0.0.1': 'allow', '127.0.0.1:1': 'deny' } },
      '127.0.0.1',
      'deny-list',
    ],
    ['this machine by a wildcard', { domains: { '*': 'allow' } }, '127.0.0.1', 'local-address'],
    [
      'a wildcard for names of this machine',
      { domains: { '*.localhost': 'allow' } },
      'a.localhost',
      'local-address',
    ],
    ['this machine by its name', { domains: { [hostname()]: 'allow' } }, hostname(), 'local-address'],
    [
      'the cloud by a wildcard, whatever is local',
      { domains: { '*': 'allow' }, allowLocalBinding: true },
      '169.254.169.254',
      'allow-list',
    ],
    [
      'the domain itself under "*."',
      { domains: { '*.localhost': 'allow' }, allowLocalBinding: true },
      'localhost',
      'allow-list',
    ],
    ['another port', { domains: { '127.0.0.1:1': 'allow' } }, '127.0.0.1', 'local-address'],
    [
      'a host to review that nobody can be asked about in time',
      { domains: { '127.0.0.1': 'allow' }, reviewDomains: ['*'], timeoutMs: 0 },
      '127.0.0.1',
      'allow-list',
    ],
  ];
  for (const [what, words, host, reason] of rules) {
    it(`refuses ${what}`, async () => {
      const outcome = await run(`${curl} ${site(host)}`, proxied(words));
      assert.equal(outcome.exitCode, 22);
      assert.equal(outcome.exit['sandboxDenied'], true);
      assert.deepEqual(
        outcome.end.blockedRequests?.map((request) => [request.host, request.port, request.reason]),
        [[host, port, reason]],
      );
      assert.deepEqual(seen, []);
      const [told] = decisions(outcome) as { decision: string; source: string }[];
      assert.deepEqual([told?.decision, told?.source], ['deny', 'baseline_policy']);
    });
  }

  const opened: readonly (readonly [string, ProxyWords, string])[] = [
    ['a port', { domains: { ':PORT': 'allow' } }, '127.0.0.1'],
    ['a name of this machine', { domains: { 'a.localhost': 'allow' } }, 'a.localhost'],
    [
      'what is below a domain',
      { domains: { '*.localhost': 'allow' }, allowLocalBinding: true },
      'a.localhost',
    ],
    [
      'a domain and what is below',
      { domains: { '**.localhost': 'allow' }, allowLocalBinding: true },
      'localhost',
    ],
    [
      'this machine by its name, if that may be',
      { domains: { '*': 'allow' }, allowLocalBinding: true },
      'localhost',
    ],
  ];
  for (const [what, { domains, ...words }, host] of opened) {
    it(`opens ${what}`, async () => {
      const [[pattern = '', verdict] = []] = Object.entries(domains as object);
      const own = { [pattern.replace(':PORT', `127.0.0.1:${port}`)]: verdict as string };
      const outcome = await run(`${curl} ${site(host)}`, proxied({ ...words, domains: own }));
      assert.equal(outcome.output, 'hello');
    });
  }

  it('is reached by programs that know the variables, and hides those of the machine', async () => {
    // Not one of the addresses that are the sandbox's own.
    const site = createServer((request, response) => response.end(`got ${request.method}`));
    site.listen(0, '127.0.0.2');
    await once(site, 'listening');
    const url = `http://127.0.0.2:${(site.address() as AddressInfo).port}/`;
    const program = `fetch("${url}", { method: "POST" }).then(async (r) => console.log(await r.text()))`;
    try {
      const outcome = await run(`${process.execPath} -e '${program}'; curl -sS ${url}; echo; env`, {
        ...proxied({ domains: { '127.0.0.2': 'allow' } }),
        envPolicy: { inherit: 'all', ignoreDefaultExcludes: true, exclude: [], set: {}, includeOnly: [] },
      });
      assert.match(outcome.output, /^got POST\ngot GET\n/);
      assert.match(outcome.output, /^HTTP_PROXY=http:\/\/127\.0\.0\.1:3128$/m);
      assert.match(outcome.output, /^CODEX_NETWORK_PROXY_ACTIVE=1$/m);
      assert.doesNotMatch(outcome.output, /user:secret/);
    } finally {
      site.close();
      site.closeAllConnections();
    }
  });

  it('manages an enabled network as well, and one without enforcement', async () => {
    const start = { ...proxied({ domains: { '127.0.0.1': 'deny' } }), enforceManagedNetwork: false };
    for (const sandbox of [context('enabled'), context()]) {
      const direct = await run(`curl -sS --noproxy "*" ${site('127.0.0.1')}`, { ...start, sandbox });
      assert.equal(direct.exitCode, 7);
      assert.equal((await run(`${curl} ${site('127.0.0.1')}`, { ...start, sandbox })).exitCode, 22);
    }
    assert.deepEqual(seen, []);
    const open = await run(`curl -sS --noproxy "*" ${site('127.0.0.1')}`, { sandbox: context('enabled') });
    assert.equal(open.output, 'hello');
  });

  it('only reads in the limited mode', async () => {
    const words = { mode: 'limited', domains: { '127.0.0.1': 'allow' } };
    const limited = (script: string) => run(script, proxied(words));
    assert.equal((await limited(`${curl} -I ${site('127.0.0.1')} >/dev/null && echo ok`)).output, 'ok\n');
    const post = await limited(`${curl} -X POST ${site('127.0.0.1')}`);
    assert.equal(post.exitCode, 22);
    assert.deepEqual(decisions(post), [
      {
        scope: 'non_domain',
        decision: 'deny',
        source: 'mode_guard',
        reason: 'method_not_allowed',
        protocol: 'http',
        host: '127.0.0.1',
        port,
        method: 'POST',
        policyOverride: false,
      },
    ]);
    for (const script of [
      `${curl} -p ${site('127.0.0.1')}`,
      `${curl} --proxy socks5h://127.0.0.1:3128 ${site('127.0.0.1')}`,
      `${curl} -H 'Connection: Upgrade' -H 'Upgrade: tcp' ${site('127.0.0.1')}`,
    ]) {
      const tunnel = await limited(script);
      assert.notEqual(tunnel.exitCode, 0, script);
      assert.equal(tunnel.end.blockedRequests?.[0]?.reason, 'method', script);
    }
    assert.deepEqual(seen, [`HEAD 127.0.0.1:${port} /`]);
  });

  it('speaks SOCKS5 only where it is to', async () => {
    const script = `${curl} --proxy socks5h://127.0.0.1:3128 ${site('127.0.0.1')}`;
    const domains = { '127.0.0.1': 'allow' };
    assert.equal((await run(script, proxied({ domains }))).output, 'hello');
    assert.notEqual((await run(script, proxied({ domains, enableSocks5: false }))).exitCode, 0);
    assert.equal(seen.length, 1);
  });

  it('opens the ports of this machine that managedNetwork names', async () => {
    const start = {
      sandbox: context(),
      enforceManagedNetwork: true,
      managedNetwork: { loopbackPorts: [port] },
    };
    const both = `${curl} ${site('localhost')}; ${curl} http://127.0.0.1:${otherPort}/`;
    const outcome = await run(both, start);
    assert.match(outcome.output, /^hello.*403/s);
    assert.deepEqual(outcome.notes, [], 'a client that asked for no proxy was told of one');
  });

  describe('asks its client', () => {
    const reviewed = { domains: { '127.0.0.1': 'allow' }, reviewDomains: ['127.0.0.1'] };

    it('about hosts to review, and goes on with a yes', async () => {
      const asked = answering(() => allow);
      const outcome = await run(`${curl} ${site('127.0.0.1')}`, proxied(reviewed));
      assert.equal(outcome.output, 'hello');
      assert.deepEqual(
        asked.map(({ id, params }) => [typeof id, params?.['request']]),
        [['number', { protocol: 'http', host: '127.0.0.1', port }]],
      );
      const [told] = decisions(outcome) as { source: string; policyOverride: boolean }[];
      assert.deepEqual([told?.source, told?.policyOverride], ['decider', true]);
    });

    const answers: readonly (readonly [string, object, string, string])[] = [
      ['a no', { result: { decision: { type: 'deny', reason: 'because' } } }, 'deny', 'because'],
      [
        'somebody else to be asked',
        { result: { decision: { type: 'ask', reason: 'later' } } },
        'ask',
        'later',
      ],
      ['an error', { error: { code: -32_601, message: 'no' } }, 'deny', 'not_allowed'],
      ['nonsense', { result: { decision: { type: 'yes' } } }, 'deny', 'not_allowed'],
      [
        'a reason with a line end',
        { result: { decision: { type: 'allow', reason: 'a\nb' } } },
        'deny',
        'not_allowed',
      ],
    ];
    for (const [what, answer, decision, reason] of answers) {
      it(`and takes ${what} for a no`, async () => {
        answering(() => answer);
        const outcome = await run(`${curl} ${site('127.0.0.1')}`, proxied(reviewed));
        assert.equal(outcome.exitCode, 22);
        assert.equal(outcome.exit['sandboxDenied'], true);
        const [told] = decisions(outcome) as { decision: string; source: string; reason: string }[];
        assert.deepEqual([told?.decision, told?.source, told?.reason], [decision, 'decider', reason]);
        assert.deepEqual(seen, []);
      });
    }

    it('about unknown hosts where it has said how long an answer takes, by every protocol', async () => {
      const asked = answering(() => ({ result: { decision: { type: 'deny', reason: 'no' } } }));
      const script = `${curl} http://a.example/; ${curl} https://b.example/; ${curl} --proxy socks5h://127.0.0.1:3128 http://c.example/`;
      await run(script, proxied({ timeoutMs: 20_000, domains: { 'z.example': 'allow' } }));
      assert.deepEqual(
        asked.map(({ params }) => params?.['request']),
        [
          { protocol: 'http', host: 'a.example', port: 80 },
          { protocol: 'https_connect', host: 'b.example', port: 443 },
          { protocol: 'socks5_tcp', host: 'c.example', port: 80 },
        ],
      );
      await run(script, proxied({ domains: { 'z.example': 'allow' } }));
      assert.equal(asked.length, 3, 'it asked a client that did not want that');
    });

    it('never about denied and local hosts', async () => {
      const asked = answering(() => allow);
      const words = { timeoutMs: 20_000, domains: { 'a.example': 'deny' } };
      const hosts = ['a.example', '127.0.0.1', 'localhost', '10.0.0.1', '169.254.169.254'];
      const outcome = await run(hosts.map((host) => `${curl} ${site(host)}`).join('; '), proxied(words));
      assert.deepEqual(
        outcome.end.blockedRequests?.map(({ host }) => host),
        hosts,
      );
      assert.deepEqual(asked, []);
    });

    it('no longer than it may take, and minds no late answer', async () => {
      const asked = answering(() => undefined);
      const outcome = await run(`${curl} ${site('127.0.0.1')}`, proxied({ ...reviewed, timeoutMs: 200 }));
      assert.equal(outcome.exitCode, 22);
      const [told] = decisions(outcome) as { decision: string; source: string }[];
      assert.deepEqual([told?.decision, told?.source], ['deny', 'decider']);
      client.send({ id: asked[0]?.id, ...allow });
      assert.deepEqual(await client.ok('environment/status'), { status: 'ready' });
      assert.deepEqual(seen, []);
    });

    it('and is refused when that goes away, or is away', async () => {
      const first = await server.connect({ greet: false });
      const session = await first.greet();
      const script = `${curl} ${site('127.0.0.1')}; sleep 1; ${curl} ${site('localhost')}`;
      const domains = { '127.0.0.1': 'allow', localhost: 'allow' };
      await first.script('left', script, proxied({ domains, reviewDomains: ['*'], timeoutMs: 60_000 }));
      const left = await waitFor('the question', () =>
        first.notes.find(({ method }) => method === 'network/policyRequest'),
      );
      assert.equal(left.params?.['processId'], 'left');
      first.close();
      const next = await server.connect({ greet: false });
      await waitFor('the session', async () => {
        const { result } = await next.call('initialize', { clientName: 'test', resumeSessionId: session });
        return result;
      });
      next.send({ method: 'initialized' });
      // Whoever resumes the session answers what is asked from then on.
      next.onNote = (message) => {
        next.notes.push(message);
        if (message.method === 'network/policyRequest') {
          next.send({ id: message.id, result: { decision: { type: 'deny' } } });
        }
      };
      const read = await waitFor('the end', async () => {
        const answer = await next.ok('process/read', { processId: 'left', afterSeq: 0, waitMs: 500 });
        return answer['closed'] === true && answer;
      });
      assert.notEqual(read['exitCode'], 0);
      const { blockedRequests } = read['cordon'] as Outcome['end'];
      assert.deepEqual(
        blockedRequests?.map(({ host, reason }) => [host, reason]),
        [
          ['127.0.0.1', 'allow-list'],
          ['localhost', 'allow-list'],
        ],
      );
      assert.deepEqual(seen, []);
      next.close();
    });
  });

  it('still takes an answer to what it never asked for the end', async () => {
    client.send({ id: 1, ...allow });
    await waitFor('the end of the connection', () => client.isClosed);
  });

  describe('opens Unix sockets', () => {
    let folder: TemporaryFolder;
    let listener: SocketServer;
    let path: string;
    before(async () => {
      folder = await createTemporaryFolder('managed-network');
      path = join(folder.path, 'service.sock');
      listener = createSocketServer((socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nunix'));
      await new Promise<void>((resolve) => listener.listen(path, resolve));
    });
    after(async () => {
      listener.close();
      rmSync(path, { force: true });
      await folder.dispose();
    });
    const ask = () => `curl -sS --max-time 20 --unix-socket ${path} http://x/`;

    it('that are allowed, and no others', async () => {
      assert.equal((await run(ask(), proxied({ unixSockets: { [path]: 'allow' } }))).output, 'unix');
      assert.notEqual((await run(ask(), proxied())).exitCode, 0);
      assert.notEqual((await run(ask(), proxied({ unixSockets: { [path]: 'deny' } }))).exitCode, 0);
      const around = { managedNetwork: { allowUnixSockets: [path] }, sandbox: context() };
      assert.equal((await run(ask(), around)).output, 'unix');
      const denied = {
        ...proxied({ unixSockets: { [path]: 'deny' } }),
        managedNetwork: around.managedNetwork,
      };
      assert.notEqual((await run(ask(), denied)).exitCode, 0);
    });
  });

  describe('is refused by name', () => {
    const refused: readonly (readonly [string, () => object])[] = [
      ['networkProxy.proxy.transparentTcp', () => proxied({ transparentTcp: true })],
      [
        'networkProxy.proxy.dangerouslyAllowAllUnixSockets',
        () => proxied({ dangerouslyAllowAllUnixSockets: true }),
      ],
      ['managedNetwork.transparentTcp', () => ({ ...proxied(), managedNetwork: { transparentTcp: true } })],
      [
        'managedNetwork.dangerouslyAllowAllUnixSockets',
        () => ({ managedNetwork: { dangerouslyAllowAllUnixSockets: true } }),
      ],
      ['networkProxy.proxy.domains', () => proxied({ domains: { 'region*.example.org': 'allow' } })],
      ['networkProxy.proxy.domains', () => proxied({ domains: { 'bad host/x': 'deny' } })],
      ['networkProxy.proxy.domains', () => proxied({ domains: { '*': 'deny' } })],
      ['networkProxy.proxy.reviewDomains', () => proxied({ reviewDomains: ['**'] })],
      ['networkProxy.proxy.unixSockets', () => proxied({ unixSockets: { 'rel.sock': 'allow' } })],
      ['networkProxy.proxy.unixSockets', () => proxied({ unixSockets: { '/etc/passwd': 'allow' } })],
      ['networkProxy', () => ({ ...proxied(), sandbox: null })],
      [
        'networkProxy',
        () => ({ ...proxied(), sandbox: { ...context(), permissions: { type: 'disabled' } } }),
      ],
      ['enforceManagedNetwork', () => ({ sandbox: context(), enforceManagedNetwork: true })],
      ['enforceManagedNetwork', () => ({ sandbox: null, enforceManagedNetwork: true })],
      ['enforceManagedNetwork', () => ({ ...proxied({ enabled: false }) })],
    ];
    for (const [index, [field, start]] of refused.entries()) {
      it(`${field} (${index + 1})`, async () => {
        const { error } = await client.start('refused', ['/bin/true'], start());
        assert.equal(error?.code, -32_602);
        assert.match(error.message, new RegExp(`process/start: ${field.replaceAll('.', '\\.')}: `));
      });
    }

    it('but not where the words ask for nothing', async () => {
      const nothing = { managedNetwork: {}, ...proxied({ enabled: false }), enforceManagedNetwork: false };
      assert.equal((await run('echo ok', nothing)).output, 'ok\n');
      assert.equal((await run(`curl -sS ${site('127.0.0.1')}`, nothing)).exitCode, 7);
    });
  });

  it('is announced as far as it goes', async () => {
    const { capabilities } = (await client.ok('environment/info')) as {
      capabilities: Record<string, boolean>;
    };
    assert.deepEqual(
      ['networkProxyLaunch', 'networkProxyReviewDomains', 'networkProxyTransparentTcp'].map(
        (name) => capabilities[name],
      ),
      [true, true, false],
    );
  });
});
