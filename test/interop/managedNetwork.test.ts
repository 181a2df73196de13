import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import { WebSocket } from 'ws';
import { webSocketTransport } from '../../src/runtime/execServer/transport/webSocket.ts';
import { startCodexServer } from '../harness/codexServer.ts';
import { startCordonServer } from '../harness/cordonServer.ts';
import { TestClient } from '../harness/execServer.ts';
import { listen } from '../harness/proxyClient.ts';
import { contextOf, place } from '../harness/sandboxContexts.ts';

interface Case {
  readonly what: string;
  readonly host: string;
  readonly scheme?: string;
  readonly proxy: object;
  /** What the client answers to questions. */
  readonly answer?: object;
  readonly reaches?: boolean;
}

const deny = { result: { decision: { type: 'deny', reason: 'because' } } };
const cases: readonly Case[] = [
  {
    what: 'an allowed address',
    host: '127.0.0.1',
    proxy: { domains: { '127.0.0.1': 'allow' } },
    reaches: true,
  },
  { what: 'a local address in no rule', host: '127.0.0.1', proxy: {} },
  {
    what: 'a local address under "*"',
    host: '169.254.169.254',
    proxy: { domains: { 'a.example': 'allow' } },
  },
  { what: 'a denied host', host: 'a.example', proxy: { domains: { '*': 'allow', 'a.example': 'deny' } } },
  { what: 'a host below a denied one', host: 'b.a.example', proxy: { domains: { '**.a.example': 'deny' } } },
  { what: 'a host that is "none"', host: 'a.example', proxy: { domains: { 'a.example': 'none' } } },
  {
    what: 'a domain under "*."',
    host: 'a.example',
    proxy: { domains: { '*.a.example': 'allow' } },
    answer: deny,
  },
  { what: 'an unknown host', host: 'a.example', proxy: {}, answer: deny },
  { what: 'an unknown host over TLS', host: 'a.example', scheme: 'https', proxy: {}, answer: deny },
  {
    what: 'an unknown host, and another question for an answer',
    host: 'a.example',
    proxy: {},
    answer: { result: { decision: { type: 'ask', reason: 'later' } } },
  },
  {
    what: 'an unknown host, and an error for an answer',
    host: 'a.example',
    proxy: {},
    answer: { error: { code: -32_601, message: 'no' } },
  },
  {
    what: 'a host to review',
    host: '127.0.0.1',
    proxy: { domains: { '127.0.0.1': 'allow' }, reviewDomains: ['127.0.0.1'] },
    answer: { result: { decision: { type: 'allow' } } },
    reaches: true,
  },
  {
    what: 'a host to review, and a no',
    host: '127.0.0.1',
    proxy: { domains: { '127.0.0.1': 'allow' }, reviewDomains: ['*'] },
    answer: deny,
  },
  {
    what: 'a denied host to review',
    host: 'a.example',
    proxy: { domains: { 'a.example': 'deny' }, reviewDomains: ['a.example'] },
    answer: deny,
  },
];

describe('The managed network of a start is the same on both servers:', function () {
  this.timeout(120_000);
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let web: Server;
  let port: number;
  let servers: readonly { readonly url: string; dispose(): Promise<void> }[];
  let clients: readonly TestClient[];
  before(async () => {
    web = createServer((_request, response) => response.end('hello'));
    port = await listen(web);
    servers = await Promise.all([startCodexServer('--concurrent-requests', '4'), startCordonServer()]);
    clients = await Promise.all(
      servers.map(async ({ url }) => {
        const socket = new WebSocket(url);
        await once(socket, 'open');
        const client = new TestClient(webSocketTransport(socket, 'test'));
        await client.greet();
        return client;
      }),
    );
  });
  after(async () => {
    clients.forEach((client) => client.close());
    await Promise.all(servers.map((server) => server.dispose()));
    web.closeAllConnections();
    web.close();
  });

  async function run(
    client: TestClient,
    { what, host, scheme = 'http', proxy, answer }: Case,
  ): Promise<object> {
    client.onNote = (message) => {
      client.notes.push(message);
      if (message.method === 'network/policyRequest') {
        client.send({ id: message.id, ...answer });
      }
    };
    const url = `${scheme}://${host}:${port}/`;
    await client.script(what, `curl -s -f --noproxy "" --max-time 20 ${url}`, {
      sandbox: contextOf([place('root', 'read')]),
      enforceManagedNetwork: true,
      networkProxy: {
        proxy: {
          ...{ enabled: true, enableSocks5: true, enableSocks5Udp: false, allowUpstreamProxy: false },
          ...{ dangerouslyAllowAllUnixSockets: false, mode: 'full', allowLocalBinding: false, ...proxy },
        },
        ...(answer !== undefined && { policyDecisionTimeoutMs: 20_000 }),
      },
    });
    const exitCode = await client.closed(what);
    const notes = client.eventsOf(what).filter(({ method }) => method?.startsWith('network/'));
    return {
      exitCode,
      output: client.outputOf(what).toString(),
      notes: notes.map(({ id, method, params }) => {
        const rest = { ...params, timestamp: typeof params?.['timestamp'] };
        // Where the command's own end of the connection is, a Unix socket cannot tell.
        return { method, isQuestion: typeof id === 'number', ...rest, client: undefined };
      }),
    };
  }

  for (const one of cases) {
    it(one.what, async () => {
      const [theirs, ours] = await Promise.all(clients.map((client) => run(client, one)));
      assert.deepEqual(ours, theirs);
      assert.equal((ours as { output: string }).output, one.reaches === true ? 'hello' : '');
    });
  }
});
