import assert from 'node:assert/strict';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import { silentLog } from '../../src/base/log.ts';
import type {
  ServerMethodName,
  ServerParamsOf,
  ServerResultOf,
} from '../../src/runtime/execServer/protocol/methods.ts';
import { startParams } from '../../src/runtime/execServer/protocol/processes.ts';
import type { ServedConnection } from '../../src/runtime/execServer/server/service.ts';
import { managedStartOf } from '../../src/runtime/execServer/services/managedNetwork/managedStart.ts';
import { contextMachine } from '../../src/runtime/execServer/services/sandboxContext/contextMachine.ts';
import { listen } from '../harness/proxyClient.ts';
import { contextOf, place } from '../harness/sandboxContexts.ts';
import type { AllowListOutcome } from './allowListArena.ts';
import { AllowListArena } from './allowListArena.ts';
import type { Edit } from './harness.ts';
import { removing } from './harness.ts';

/** Asks the proxy directly, whatever a tool would make of the address. */
const curl = 'curl -s -f --noproxy "" --max-time 20';

interface Words {
  readonly domains?: Readonly<Record<string, 'allow' | 'deny'>>;
  readonly reviewDomains?: readonly string[];
  readonly allowLocalBinding?: boolean;
  /** Hosts to which the client says yes. */
  readonly yes?: readonly string[];
  readonly without?: Edit;
}

describe('A command whose network a client manages cannot reach', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let arena: AllowListArena;
  let web: Server;
  let port: number;
  let contacts: string[];
  let asked: string[];

  beforeEach(async () => {
    arena = new AllowListArena();
    contacts = [];
    asked = [];
    web = createServer((request, response) => {
      contacts.push(String(request.headers.host));
      const location = request.url === '/away' ? { location: `http://evil.test:${port}/` } : {};
      response.writeHead(request.url === '/away' ? 302 : 200, location);
      response.end('the secret');
    });
    port = await listen(web);
  });
  afterEach(() => {
    arena.dispose();
    web.closeAllConnections();
    web.close();
  });

  const at = (name: string, path = ''): string => `http://${name}.test:${port}/${path}`;

  /** The names lead to this machine, so they are opened as such unless a test says otherwise. */
  function run(
    script: string,
    { domains = {}, reviewDomains = [], allowLocalBinding = true, yes = [], without }: Words,
  ): Promise<AllowListOutcome> {
    const params = startParams.parse({
      ...{ processId: 'p', argv: ['true'], cwd: 'file:///', env: {}, tty: false },
      sandbox: contextOf([place('root', 'read')]),
      networkProxy: {
        proxy: {
          ...{ enabled: true, enableSocks5: true, enableSocks5Udp: false, allowUpstreamProxy: false },
          ...{ dangerouslyAllowAllUnixSockets: false, mode: 'full', allowLocalBinding },
          ...{ domains, reviewDomains },
        },
        policyDecisionTimeoutMs: 20_000,
      },
    });
    const client: ServedConnection = {
      log: silentLog,
      closed: new AbortController().signal,
      isWritable: true,
      whenWritable: async () => {},
      notify: () => {},
      ask: <M extends ServerMethodName>(_method: M, { request: { host } }: ServerParamsOf<M>) => {
        asked.push(host);
        const type = yes.includes(host) ? ('allow' as const) : ('deny' as const);
        return Promise.resolve({ decision: { type } } as ServerResultOf<M>);
      },
    };
    const managed = managedStartOf(params, () => client, contextMachine({}));
    assert.ok(managed?.network);
    return arena.shellUnder({ ...arena.policy(), ...managed.clauses }, script, {
      network: managed.network,
      ...(without !== undefined && { without }),
    });
  }

  it('anything without the proxy', async () => {
    const script = `curl -s --noproxy '*' --max-time 20 http://127.0.0.1:${port}/`;
    const words: Words = { domains: { '127.0.0.1': 'allow' } };
    assert.equal((await run(script, words)).exitCode, 7);
    assert.deepEqual(contacts, []);
    assert.equal((await run(script, { ...words, without: removing('--unshare-net') })).stdout, 'the secret');
  });

  it('a second host by the answer about the first', async () => {
    const script = `${curl} ${at('app')}; ${curl} ${at('evil')} & ${curl} ${at('app')}; wait`;
    const outcome = await run(script, { yes: ['app.test'] });
    assert.deepEqual(contacts, [`app.test:${port}`, `app.test:${port}`]);
    assert.deepEqual(
      outcome.blocked.map(({ host, reason }) => [host, reason]),
      [['evil.test', 'allow-list']],
    );
    assert.deepEqual([...asked].sort(), ['app.test', 'app.test', 'evil.test']);
    await run(`${curl} ${at('evil')}`, { yes: ['evil.test'] });
    assert.equal(contacts.at(-1), `evil.test:${port}`);
  });

  it('a host that is asked about inside a tunnel to one that is not', async () => {
    const script = `${curl} -k --connect-to evil.test:${port}:app.test:${port} https://evil.test:${port}/`;
    const domains = { 'app.test': 'allow', 'evil.test': 'allow' } as const;
    const outcome = await run(script, { domains, reviewDomains: ['evil.test'], yes: ['app.test'] });
    assert.deepEqual(
      outcome.blocked.map(({ host, reason }) => [host, reason]),
      [['evil.test', 'server-name']],
    );
    assert.deepEqual(asked, []);
    assert.deepEqual((await run(script, { domains })).blocked, []);
  });

  it('a denied host by a redirection', async () => {
    const script = `${curl} -L ${at('app', 'away')}`;
    const domains = { 'app.test': 'allow', 'evil.test': 'deny' } as const;
    const outcome = await run(script, { domains, yes: ['evil.test'] });
    assert.deepEqual(contacts, [`app.test:${port}`]);
    assert.equal(outcome.blocked[0]?.reason, 'deny-list');
    assert.deepEqual(asked, []);
    await run(script, { domains: { ...domains, 'evil.test': 'allow' } });
    assert.equal(contacts.at(-1), `evil.test:${port}`);
  });

  it('the machine by a name, whatever the client answers', async () => {
    const words: Words = { yes: ['evil.test'], allowLocalBinding: false };
    const outcome = await run(`${curl} ${at('evil')}`, words);
    assert.deepEqual(asked, ['evil.test']);
    assert.equal(outcome.blocked[0]?.reason, 'local-address');
    assert.deepEqual(contacts, []);
    await run(`${curl} ${at('evil')}`, { ...words, allowLocalBinding: true });
    assert.deepEqual(contacts, [`evil.test:${port}`]);
  });
});
