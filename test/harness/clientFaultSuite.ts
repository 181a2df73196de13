import assert from 'node:assert/strict';
import { ok } from '../../src/base/result.ts';
import type { ExecEvent, ExecProcess } from '../../src/runtime/exec/execBackend.ts';
import { connectExecClient } from '../../src/runtime/execServer/client/connectExecClient.ts';
import { dialWebSocket } from '../../src/runtime/execServer/client/dial.ts';
import type { ExecClient } from '../../src/runtime/execServer/client/execClient.ts';
import { RemoteBackend } from '../../src/runtime/execServer/client/remoteBackend.ts';
import type { ClientTiming } from '../../src/runtime/execServer/client/timing.ts';
import type { Meddler } from './faultyProxy.ts';
import { startFaultyProxy, startMeddlingProxy } from './faultyProxy.ts';
import { Random } from './random.ts';
import { testPolicy } from './testRuntime.ts';
import { waitFor } from './waitFor.ts';

/** A server that a test may kill. */
export interface ServerUnderTest {
  readonly url: string;
  kill(): void;
  dispose(): Promise<void>;
}

const policy = testPolicy('/', { mode: 'danger-full-access' });
const env = { PATH: '/usr/bin:/bin' };
const cuts = 200;

/** What our client makes of bad connections to a real server. */
export function describeClientFaults(name: string, startServer: () => Promise<ServerUnderTest>): void {
  describe(`a client on a bad connection to ${name}`, () => {
    let server: ServerUnderTest;
    let client: ExecClient;
    const disposables: { dispose(): Promise<void> }[] = [];

    before(async () => {
      server = await startServer();
    });
    afterEach(async () => {
      client.dispose();
      await Promise.all(disposables.splice(0).map((item) => item.dispose()));
    });
    after(() => server.dispose());

    async function start(
      url: string,
      script: string,
      timing: Partial<ClientTiming> = {},
    ): Promise<{ readonly child: ExecProcess; readonly events: ExecEvent[] }> {
      client = await connectExecClient(dialWebSocket(url), { timing });
      const backend = new RemoteBackend({ connect: async () => ok(client), timing });
      const argv = ['/bin/bash', '--norc', '-c', script];
      const started = await backend.start({ argv, cwd: '/', env, policy, pipeStdin: true });
      assert.ok(started.ok, started.ok ? '' : started.error.message);
      const events: ExecEvent[] = [];
      started.value.onEvent((event) => events.push(event));
      return { child: started.value, events };
    }

    async function meddled(createMeddler: () => Meddler): Promise<string> {
      const proxy = await startMeddlingProxy(server.url, createMeddler);
      disposables.push(proxy);
      return proxy.url;
    }

    const target = ({ url } = server): { readonly host: string; readonly port: number } => ({
      host: new URL(url).hostname,
      port: Number(new URL(url).port),
    });

    it(`loses and repeats no byte when the connection is cut ${cuts} times at random points`, async function () {
      this.timeout(180_000);
      const proxy = await startFaultyProxy(target());
      disposables.push(proxy);
      const random = new Random(6);
      // So slow that never more than the retained MiB passes while the client is away; as long as there are cuts to make.
      const { child, events } = await start(
        `ws://${proxy.address}`,
        `until ((++i % 20 == 0)) && read -t 0.02 line; do echo "line $i of the output"; echo "error $i" >&2; done; ` +
          `echo $((i - 1))`,
      );
      for (let made = 0; made < cuts; made++) {
        const before = proxy.connections;
        proxy.cutAfter(random.integer(0, 6_000));
        await waitFor('the next connection', () => proxy.connections > before);
      }
      child.write(Buffer.from('enough\n'));
      await child.closed;
      assert.equal(child.exit?.failure, undefined);
      const lines = Number(text(events, 'stdout').trimEnd().split('\n').at(-1));
      assert.ok(lines > cuts, String(lines));
      assert.equal(
        text(events, 'stdout'),
        `${numbered(lines, (n) => `line ${n} of the output\n`)}${lines}\n`,
      );
      assert.equal(
        text(events, 'stderr'),
        numbered(lines, (n) => `error ${n}\n`),
      );
      assert.deepEqual(
        events.map(({ seq }) => seq),
        events.map((_, index) => index + 1),
      );
    });

    it('types every byte once, in order, over connections that break', async function () {
      this.timeout(60_000);
      const proxy = await startFaultyProxy(target());
      disposables.push(proxy);
      const random = new Random(7);
      const { child, events } = await start(`ws://${proxy.address}`, 'head -c 3000');
      for (let at = 0; at < 300; at++) {
        const isCut = at % 10 === 0;
        const before = proxy.connections;
        if (isCut) {
          // Within the answer to this write.
          proxy.cutAfter(random.integer(0, 35));
        }
        child.write(Buffer.from(`${String(at).padStart(9, '0')}\n`));
        if (isCut) {
          await waitFor('the next connection', () => proxy.connections > before);
        }
      }
      await child.closed;
      assert.equal(
        text(events),
        numbered(300, (n) => `${String(n - 1).padStart(9, '0')}\n`),
      );
    });

    it('puts swapped and repeated notifications in order, without a read', async () => {
      let reads = 0;
      const url = await meddled(() => {
        let held: string | undefined;
        return (message) => {
          reads += message.includes('"chunks"') ? 1 : 0;
          if (!message.includes('"process/output"') && !message.includes('"process/exited"')) {
            const out = held === undefined ? [message] : [message, held];
            held = undefined;
            return out;
          }
          if (held === undefined) {
            held = message;
            return [];
          }
          const out = [message, held, message];
          held = undefined;
          return out;
        };
      });
      const { child, events } = await start(url, 'for i in $(seq 1 200); do echo $i; sleep 0.002; done');
      await child.closed;
      assert.equal(
        text(events),
        numbered(200, (n) => `${n}\n`),
      );
      // Of another's server, output may be numbered after the exit.
      const ends = events.map(({ kind }) => kind).filter((kind) => kind !== 'output');
      assert.deepEqual(ends, ['exited', 'closed']);
      assert.equal(events.at(-1)?.kind, 'closed');
      assert.equal(reads, 0);
    });

    it('repairs every kind of notification that got lost', async function () {
      this.timeout(60_000);
      for (const lost of ['"process/output"', '"process/exited"', '"process/closed"']) {
        let isLost = false;
        const url = await meddled(() => (message) => {
          if (!isLost && message.includes(lost) && !message.includes('"seq":1,')) {
            isLost = true;
            return [];
          }
          return [message];
        });
        const { child, events } = await start(
          url,
          'for i in 1 2 3 4 5; do echo $i; sleep 0.02; done; exit 3',
        );
        await child.closed;
        assert.ok(isLost);
        assert.equal(text(events), '1\n2\n3\n4\n5\n');
        assert.equal(child.exit?.exitCode, 3);
        assert.equal(child.exit.failure, undefined);
        client.dispose();
      }
    });

    it('finds a connection that nothing goes through any more, and goes on over another', async function () {
      this.timeout(60_000);
      const proxy = await startFaultyProxy(target());
      disposables.push(proxy);
      const { child, events } = await start(
        `ws://${proxy.address}`,
        'for i in $(seq 1 100); do echo $i; sleep 0.02; done',
        { probeAfterMs: 200, patienceMs: 200, serialPatienceMs: 400, recoveryMs: 30_000 },
      );
      await waitFor('some output', () => text(events).includes('10\n'));
      proxy.freeze();
      await waitFor('another connection', () => proxy.connections > 1);
      // Until then the server may see the session attached to the old one.
      proxy.dropFrozen();
      await child.closed;
      assert.equal(
        text(events),
        numbered(100, (n) => `${n}\n`),
      );
    });

    it('makes a new connection when a message is garbled, and misses nothing', async () => {
      let garbled = 0;
      const url = await meddled(() => {
        let count = 0;
        return (message) => {
          if (message.includes('"process/output"') && ++count === 3 && garbled < 3) {
            garbled++;
            return [message.slice(0, -7)];
          }
          return [message];
        };
      });
      const { child, events } = await start(url, 'for i in $(seq 1 60); do echo $i; sleep 0.01; done');
      await child.closed;
      assert.equal(garbled, 3);
      assert.equal(
        text(events),
        numbered(60, (n) => `${n}\n`),
      );
    });

    it('ends every process with a failure when the server is killed', async function () {
      this.timeout(60_000);
      const doomed = await startServer();
      disposables.push(doomed);
      client = await connectExecClient(dialWebSocket(doomed.url), { timing: { recoveryMs: 500 } });
      const backend = new RemoteBackend({ connect: async () => ok(client) });
      const children = await Promise.all(
        Array.from({ length: 10 }, () => backend.start({ argv: ['sleep', '600'], cwd: '/', env, policy })),
      );
      doomed.kill();
      for (const child of children) {
        assert.ok(child.ok);
        await child.value.closed;
        assert.equal(child.value.exit?.exitCode, 255);
        assert.match(child.value.exit.failure ?? '', /recovery timed out after 0.5 s/);
      }
      const late = await backend.start({ argv: ['true'], cwd: '/', env, policy });
      assert.ok(!late.ok && late.error.kind === 'spawn-failed');
    });

    it('ends everything that waits, with the reason, when the server that comes back has not its session', async function () {
      this.timeout(60_000);
      const [doomed, next] = [await startServer(), await startServer()];
      disposables.push(doomed, next);
      const proxy = await startFaultyProxy(target(doomed));
      disposables.push(proxy);
      const reason = /exec-server does not have the session any more/;
      const { child: first, events } = await start(`ws://${proxy.address}`, 'echo out; sleep 600');
      await waitFor('its output', () => text(events) === 'out\n');
      const backend = new RemoteBackend({ connect: async () => ok(client) });
      const sleep = { argv: ['sleep', '600'], cwd: '/', env, policy, pipeStdin: true };
      const others = await Promise.all([1, 2, 3].map(() => backend.start(sleep)));
      const [full, ending, read] = others.map((one) => (one.ok ? one.value : assert.fail(one.error.message)));
      assert.ok(full !== undefined && ending !== undefined && read !== undefined);

      // More than its pipe takes, so the answer to the write waits.
      full.write(Buffer.alloc(4 * 1024 * 1024));
      const news = read.read({ afterSeq: 0, waitMs: 600_000 });
      const { argv } = sleep;
      await client.call('process/start', { processId: 'own', argv, cwd: 'file:///', env, tty: false });
      const answer = assert.rejects(
        client.call('process/read', { processId: 'own', waitMs: 600_000 }),
        reason,
      );
      proxy.lead(target(next));
      doomed.kill();
      const starting = backend.start(sleep);
      const terminated = ending.terminate(600_000);

      for (const child of [first, full, ending, read]) {
        await child.closed;
        assert.equal(child.exit?.exitCode, 255);
        assert.match(child.exit.failure ?? '', reason);
        assert.equal(child.write(Buffer.from('x')), 'exited');
      }
      assert.equal((await news).closed, true);
      await terminated;
      await answer;
      const started = await starting;
      assert.ok(!started.ok);
      assert.match(started.error.message, reason);
      assert.deepEqual(
        events.map(({ kind }) => kind),
        ['output', 'exited', 'closed'],
      );

      client = await connectExecClient(dialWebSocket(`ws://${proxy.address}`));
      const again = await backend.start({ argv: ['true'], cwd: '/', env, policy });
      assert.ok(again.ok);
      await again.value.closed;
      assert.equal(again.value.exit?.exitCode, 0);
    });
  });
}

function text(events: readonly ExecEvent[], stream?: string): string {
  const chunks = events.flatMap((event) =>
    event.kind === 'output' && (stream === undefined || event.stream === stream) ? [event.chunk] : [],
  );
  return Buffer.concat(chunks).toString();
}

function numbered(count: number, line: (n: number) => string): string {
  return Array.from({ length: count }, (_, index) => line(index + 1)).join('');
}
