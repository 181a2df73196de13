import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ok } from '../../../src/base/result.ts';
import type { Approval } from '../../../src/runtime/approvals/approval.ts';
import type { ExecBackend } from '../../../src/runtime/exec/execBackend.ts';
import { connectExecClient } from '../../../src/runtime/execServer/client/connectExecClient.ts';
import { dialWebSocket } from '../../../src/runtime/execServer/client/dial.ts';
import { RemoteBackend } from '../../../src/runtime/execServer/client/remoteBackend.ts';
import { frameOf } from '../../../src/runtime/children/partFrames.ts';
import { toWire } from '../../../src/runtime/execServer/services/sandboxContext/wirePolicy.ts';
import type { PrefixRule, RuleSet } from '../../../src/sandbox/rules/rule.ts';
import { noRules } from '../../../src/sandbox/rules/rule.ts';
import { startCordonServer } from '../../harness/cordonServer.ts';
import { TestServer } from '../../harness/execServer.ts';
import { startFaultyProxy } from '../../harness/faultyProxy.ts';
import { createLocalPrograms } from '../../harness/localEnvironment.ts';
import { assertEnded, processesWithEnvironment } from '../../harness/processes.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';
import type { TestRuntime } from '../../harness/testRuntime.ts';
import { createTestRuntime, testPolicy } from '../../harness/testRuntime.ts';
import { waitFor } from '../../harness/waitFor.ts';

const mark = `doors-${process.pid}`;

function rule(words: readonly string[], change: Partial<PrefixRule>): RuleSet {
  const origin = { source: 'user', place: 'test.rules:1' } as const;
  const pattern = words.map((word) => [word]);
  return { ...noRules, prefixes: [{ pattern, decision: 'prompt', runs: 'inside', origin, ...change }] };
}

describe('The doors of commands in a server', function () {
  this.timeout(120_000);
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) {
      await end();
    }
  });

  async function setUp(backend: ExecBackend, rules: RuleSet): Promise<TestRuntime> {
    const user = { environment: { set: { CORDON_MARK: mark } } };
    const test = await createTestRuntime(user, process.env, { backend, rules });
    ends.push(() => test.dispose());
    return test;
  }

  function questions({ approvals }: TestRuntime): readonly Approval[] {
    const asked: Approval[] = [];
    approvals.onDidAsk((approval) => asked.push(approval));
    return asked;
  }

  const run = async (test: TestRuntime, ...lines: readonly string[]): Promise<string> => {
    await writeFile(join(test.root, 'work.sh'), `${lines.join('\n')}\n`);
    const input = { cmd: 'bash work.sh', login: false, yield_time_ms: 30_000 };
    return (await test.call('exec_command', input)).text;
  };

  it('close for whoever waits when the connection breaks, and are open on the next one', async () => {
    const server = await startCordonServer();
    ends.push(() => server.dispose());
    const proxy = await startFaultyProxy({ host: '127.0.0.1', port: Number(new URL(server.url).port) });
    ends.push(() => proxy.dispose());
    const client = await connectExecClient(dialWebSocket(`ws://${proxy.address}`));
    ends.push(() => client.dispose());
    const test = await setUp(new RemoteBackend({ connect: async () => ok(client) }), rule(['uname'], {}));
    const asked = questions(test);
    const answer = run(
      test,
      'uname; echo "first $?"; touch refused',
      'while [ ! -e go ]; do sleep 0.05; done; uname; echo "second $?"',
    );
    await waitFor('the first question', () => asked.length === 1);
    proxy.freeze();
    proxy.dropFrozen();
    await waitFor('the refusal', () => existsSync(join(test.root, 'refused')));
    await waitFor('the next connection', () => client.state.kind === 'connected');
    await writeFile(join(test.root, 'go'), '');
    await waitFor('the second question', () => asked.length === 2);
    assert.deepEqual(
      test.approvals.list().map(({ id }) => id),
      [asked[1]?.id],
    );
    await test.approvals.answer(asked[1]?.id ?? '', { kind: 'deny', by: 'person' });
    assert.match(await answer, /first 126[^]*second 126/);
    assert.equal(proxy.connections, 2);
  });

  it('end what runs apart when the connection breaks', async () => {
    const server = await startCordonServer();
    ends.push(() => server.dispose());
    const proxy = await startFaultyProxy({ host: '127.0.0.1', port: Number(new URL(server.url).port) });
    ends.push(() => proxy.dispose());
    const client = await connectExecClient(dialWebSocket(`ws://${proxy.address}`));
    ends.push(() => client.dispose());
    const apart = rule(['perl'], { decision: 'allow', runs: 'outside' });
    const test = await setUp(new RemoteBackend({ connect: async () => ok(client) }), apart);
    const answer = run(test, `perl -e '$SIG{TERM} = "IGNORE"; sleep 1000'; echo "ended $?"`);
    const parts = await waitFor('the part', perls);
    proxy.freeze();
    proxy.dropFrozen();
    await assertEnded(parts);
    assert.match(await answer, /ended 126/);
  });

  const perls = () => {
    const all = processesWithEnvironment('CORDON_MARK', mark);
    const found = all.filter(({ command }) => command.startsWith('/usr/bin/perl'));
    return found.length > 0 ? found : undefined;
  };

  it('take their questions with them when the server is killed, and what runs apart', async () => {
    const programs = await createLocalPrograms();
    ends.push(() => programs.dispose());
    const { backend } = programs.open();
    const asking = rule(['uname'], {});
    const apart = rule(['perl'], { decision: 'allow', runs: 'outside' });
    const both = { ...noRules, prefixes: [...asking.prefixes, ...apart.prefixes] };
    const test = await setUp(backend, both);
    const asked = questions(test);
    const answer = run(test, `perl -e 'sleep 1000' &`, 'uname; echo "ended $?"');
    const parts = await waitFor('the part', perls);
    await waitFor('the question', () => asked.length === 1);
    programs.servers().forEach(({ pid }) => process.kill(pid, 'SIGKILL'));
    await assertEnded(parts);
    assert.match(await answer, /is lost/);
    await waitFor('no question', () => test.approvals.list().length === 0);
    const again = run(test, 'uname; echo "ended $?"');
    await waitFor('the question', () => asked.length === 2);
    await test.approvals.answer(asked[1]?.id ?? '', { kind: 'deny', by: 'person' });
    assert.match(await again, /ended 126/);
  });

  it('turn programs away when another client has taken the session over', async () => {
    const programs = await createLocalPrograms();
    ends.push(() => programs.dispose());
    const first = programs.open();
    const test = await setUp(first.backend, rule(['uname'], {}));
    const script = [
      'echo > started; while [ ! -e go ]; do sleep 0.05; done',
      'uname; echo "ended $?" > result',
    ];
    void run(test, ...script);
    await waitFor('the start', () => existsSync(join(test.root, 'started')));
    first.dispose();
    const second = programs.open();
    assert.ok((await second.connect()).ok);
    await writeFile(join(test.root, 'go'), '');
    const result = join(test.root, 'result');
    await waitFor('the result', () => existsSync(result) && readFileSync(result, 'utf8') === 'ended 126\n');
    await waitFor('its end', () => processesWithEnvironment('CORDON_MARK', mark).length === 0);
  });

  it('are for the session of their command only', async () => {
    const folder = await createTemporaryFolder('doors');
    ends.push(() => folder.dispose());
    const server = await TestServer.start();
    ends.push(() => server.stop());
    const [own, other] = [await server.connect(), await server.connect()];
    const policy = toWire(testPolicy(folder.path));
    const door = { programs: ['uname'] };
    const env = { PATH: '/run/cordon/parts:/usr/bin:/bin' };
    const cwd = pathToFileURL(folder.path).href;
    await own.script('script', 'uname; echo "ended $?"', { cwd, env, cordon: { policy, door } });
    const connectionId = await waitFor('the connection', () => {
      const opened = own.notes.find(({ method }) => method === 'cordon/door/opened');
      return opened?.params?.['connectionId'] as string | undefined;
    });
    const data = (): Buffer =>
      Buffer.concat(
        own.notes
          .filter(({ method }) => method === 'cordon/door/data')
          .map(({ params }) => Buffer.from(String(params?.['chunk']), 'base64')),
      );
    await waitFor('the question', () => data().includes('uname\0'));
    const allow = { connectionId, chunk: frameOf('R').toString('base64') };
    assert.equal(await other.code('cordon/door/send', allow), -32600);
    assert.equal(await other.code('cordon/door/isHeld', { processId: 'script', path: '/usr' }), -32600);
    const theft = await other.start('theft', ['/bin/cat'], { cordon: { streams: connectionId } });
    assert.equal(theft.error?.code, -32600);
    await other.ok('cordon/door/close', { connectionId });
    assert.deepEqual(await own.ok('cordon/door/isHeld', { processId: 'script', path: '/usr' }), {
      isHeld: true,
    });
    assert.deepEqual(await own.ok('cordon/door/isHeld', { processId: 'script', path: folder.path }), {
      isHeld: false,
    });
    await own.ok('cordon/door/send', allow);
    assert.equal(await own.closed('script'), 0);
    assert.match(own.outputOf('script').toString(), /Linux\nended 0/);
    own.close();
    other.close();
  });

  it('hold whoever comes while the client takes nothing, and lose nobody', async () => {
    const folder = await createTemporaryFolder('doors');
    ends.push(() => folder.dispose());
    const server = await TestServer.start();
    ends.push(() => server.stop());
    const client = await server.connect();
    const policy = toWire(testPolicy(folder.path));
    const door = { programs: ['uname'] };
    const cwd = pathToFileURL(folder.path).href;
    const flood = `
      const { connect } = require('node:net');
      const bytes = Buffer.alloc(1 << 20, 'x');
      for (let i = 0; i < 40; i++) connect('/run/cordon/parts.sock').on('error', () => {}).end(bytes);`;
    await client.start('flood', [process.execPath, '-e', flood], { cwd, cordon: { policy, door } });
    client.transport.pause();
    const before = server.memory;
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    assert.ok(server.memory - before < 40, `${before} MiB became ${server.memory}`);
    client.transport.resume();
    const ended = () => client.notes.filter(({ method }) => method === 'cordon/door/ended').length;
    await waitFor('the end of all', () => ended() === 40);
    const bytes = client.notes
      .filter(({ method }) => method === 'cordon/door/data')
      .reduce((sum, { params }) => sum + Buffer.from(String(params?.['chunk']), 'base64').length, 0);
    assert.equal(bytes, 40 * (1 << 20));
    client.close();
  });
});
