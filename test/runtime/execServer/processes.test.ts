import assert from 'node:assert/strict';
import type { TestClient } from '../../harness/execServer.ts';
import { startParams, TestServer } from '../../harness/execServer.ts';
import { assertEnded, processesWithEnvironment } from '../../harness/processes.ts';
import type { TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';
import { waitFor } from '../../harness/waitFor.ts';
import { pathToFileURL } from 'node:url';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('cordon exec-server', function () {
  this.timeout(120_000);
  let server: TestServer;
  let client: TestClient;
  let folder: TemporaryFolder;
  before(async () => {
    folder = await createTemporaryFolder('exec-server');
    server = await TestServer.start();
  });
  after(async () => {
    await server.stop();
    await folder.dispose();
  });
  beforeEach(async () => void (client = await server.connect()));
  afterEach(() => client.close());

  it('holds a flood for a client that does not read, and loses nothing of it', async () => {
    const total = 100 * 1024 * 1024;
    const seen = { bytes: 0, seq: 0, isClosed: false };
    client.onNote = ({ method, params }) => {
      seen.seq += 1;
      assert.equal(params?.['seq'], seen.seq);
      seen.isClosed ||= method === 'process/closed';
      if (method === 'process/output') {
        const chunk = Buffer.from(String(params?.['chunk']), 'base64');
        for (let at = 0; at < chunk.length; at += 4096) {
          assert.equal(chunk[at], pattern.charCodeAt((seen.bytes + at) % pattern.length));
        }
        seen.bytes += chunk.length;
      }
    };
    const pattern = '0123456789abcde\n';
    await client.script('flood', `yes 0123456789abcde | head -c ${total}`);
    client.transport.pause();
    const before = server.memory;
    await new Promise((resolve) => setTimeout(resolve, 1500));
    assert.ok(seen.bytes < total / 2, 'the client read on');
    assert.ok(server.memory < before + 60, `${before} MiB became ${server.memory} MiB`);
    client.transport.resume();
    await waitFor('the end of the flood', () => seen.isClosed);
    assert.equal(seen.bytes, total);
  });

  it('holds nobody when the client of a flood goes away', async () => {
    const session = await resumable();
    await session.client.script('flood', 'head -c 20000000 /dev/zero; echo done');
    session.client.transport.pause();
    session.client.close();
    const next = await server.connect({ greet: false });
    await waitFor('the session to be free', async () => (await trySession(next, session.id)) === undefined);
    next.send({ method: 'initialized' });
    await waitFor('the end of the flood', async () => {
      const { closed } = await next.ok('process/read', { processId: 'flood', afterSeq: 1e9 });
      return closed === true;
    });
    const { chunks } = await next.ok('process/read', { processId: 'flood' });
    const kept = Buffer.concat(
      (chunks as { chunk: string }[]).map(({ chunk }) => Buffer.from(chunk, 'base64')),
    );
    assert.ok(kept.toString().endsWith('done\n'));
    assert.ok(kept.length <= 1024 * 1024);
    next.close();
  });

  it('runs 500 commands at once', async () => {
    const ids = Array.from({ length: 500 }, (_, index) => `many ${index}`);
    const started = await Promise.all(ids.map((id) => client.start(id, ['/bin/sleep', '1000'])));
    assert.deepEqual(
      started.filter(({ error }) => error !== undefined),
      [],
    );
    const ended = await Promise.all(ids.map((processId) => client.ok('process/terminate', { processId })));
    assert.ok(ended.every(({ running }) => running === true));
    await waitFor(
      'the end of all',
      () => ids.length === client.notes.filter(({ method }) => method === 'process/closed').length,
    );
  });

  it('answers every request of a burst', async () => {
    const paths = Array.from({ length: 2000 }, (_, index) => `burst ${index}`);
    const answers = await Promise.all(
      paths.flatMap((processId) => [
        client.call('process/read', { processId }),
        client.call('process/terminate', { processId }),
        client.call('environment/status'),
      ]),
    );
    assert.equal(answers.length, 6000);
    const starts = await Promise.all(
      Array.from({ length: 300 }, (_, index) => client.start(`start ${index}`, ['/bin/true'])),
    );
    assert.ok(starts.every(({ result }) => result !== undefined));
    assert.deepEqual(await client.ok('environment/status'), { status: 'ready' });
  });

  it('writes in order, and nothing twice', async () => {
    await client.script('cat', 'exec cat', { pipeStdin: true });
    const lines = Array.from({ length: 500 }, (_, index) => `${index}\n`);
    const write = (text: string, writeId: string) =>
      client.ok('process/write', { processId: 'cat', chunk: base64(text), writeId });
    await Promise.all(lines.flatMap((line, index) => [write(line, `${index}`), write('x', `${index}`)]));
    // More than are remembered have come since: the first id counts as new again.
    await Promise.all(Array.from({ length: 4096 }, (_, index) => write('', `later ${index}`)));
    await write('end\n', '0');
    await client.ok('cordon/process/endInput', { processId: 'cat' });
    assert.equal(await client.closed('cat'), 0);
    assert.equal(client.outputOf('cat').toString(), `${lines.join('')}end\n`);
    assert.deepEqual(await write('x', 'after'), { status: 'stdinClosed' });
  });

  it('ends a command that does not read what was written for it, whatever waits behind that', async () => {
    await client.script('deaf', 'exec sleep 1000', { pipeStdin: true });
    const chunk = base64('x'.repeat(1024 * 1024));
    const writes = Array.from({ length: 8 }, (_, index) =>
      client.call('process/write', { processId: 'deaf', chunk, writeId: `${index}` }),
    );
    assert.deepEqual(await client.ok('process/terminate', { processId: 'deaf' }), { running: true });
    assert.equal(await client.closed('deaf'), 137);
    await Promise.all(writes);
  });

  it('lets a waiting read hold back nothing, and forgets it with its client', async () => {
    await client.script('idle', 'exec sleep 1000');
    const session = await resumable();
    await session.client.script('other', 'exec sleep 1000');
    const reads = Array.from({ length: 1500 }, () =>
      client.call('process/read', { processId: 'idle', waitMs: 1e12 }),
    );
    await Promise.race(reads);
    assert.deepEqual(await client.ok('environment/status'), { status: 'ready' });
    await client.ok('process/terminate', { processId: 'idle' });
    await Promise.all(reads);
    session.client.close();
  });

  it('tells Cordon’s own clients more', async () => {
    await client.script('tty', 'read x; stty size; exec sleep 1000', {
      tty: true,
      cordon: { size: { columns: 100, rows: 30 }, label: 'one' },
    });
    await client.ok('cordon/process/resize', { processId: 'tty', columns: 120, rows: 40 });
    await client.ok('cordon/process/label', { processId: 'tty', label: 'two' });
    await client.ok('process/write', { processId: 'tty', chunk: base64('\n'), writeId: '1' });
    await waitFor('the size', () => client.outputOf('tty').includes('40 120'));
    const { processes } = await client.ok('cordon/process/list');
    const [listed] = processes as Record<string, unknown>[];
    assert.deepEqual(
      { ...listed, startedAt: 0 },
      {
        processId: 'tty',
        label: 'two',
        sandboxType: 'none',
        launcher: 'none',
        tty: true,
        pipeStdin: false,
        isRunning: true,
        startedAt: 0,
      },
    );
    assert.equal(await client.code('cordon/process/signal', { processId: 'tty', signal: 'SIGNOT' }), -32602);
    assert.deepEqual(await client.ok('cordon/process/signal', { processId: 'tty', signal: 'SIGUSR1' }), {
      delivered: true,
    });
    assert.equal(await client.closed('tty'), 1);
    const exited = client.eventsOf('tty').find(({ method }) => method === 'process/exited');
    assert.deepEqual(exited?.params?.['cordon'], { exitCode: 138, signal: 'SIGUSR1' });
    assert.deepEqual(await client.ok('cordon/process/signal', { processId: 'tty', signal: 'SIGINT' }), {
      delivered: false,
    });
  });

  it('interrupts a command that has hardly begun, inside its sandbox, too', async () => {
    const cwd = pathToFileURL(folder.path).href;
    for (let round = 0; round < 20; round++) {
      for (const extra of [{}, { cwd, sandbox: readOnly(cwd) }]) {
        const id = `early ${round} ${Object.keys(extra).length}`;
        const start = client.start(id, ['/bin/sleep', '1000'], extra);
        await client.ok('process/signal', { processId: id, signal: 'interrupt' });
        await start;
        assert.equal(await client.closed(id), 130);
      }
    }
  });

  it('lets a command clean up within the grace that is given to it', async () => {
    const mark = `${process.pid}-grace`;
    await client.script('soft', `trap 'sleep 0.2; exit 3' TERM; echo up; while :; do sleep 0.05; done`, {
      env: { PATH: '/usr/bin:/bin', CORDON_MARK: mark },
    });
    await waitFor('the trap', () => client.outputOf('soft').includes('up'));
    assert.deepEqual(await client.ok('cordon/process/terminate', { processId: 'soft', graceMs: 2 ** 40 }), {
      running: true,
    });
    assert.equal(await client.closed('soft'), 3);
    await assertEnded(processesWithEnvironment('CORDON_MARK', mark));
  });

  it('ends with 101 when a sandbox has no such program, and says so', async () => {
    const root = pathToFileURL(folder.path).href;
    const { result } = await client.start('none', ['no-such-program'], {
      cwd: root,
      sandbox: readOnly(root),
    });
    assert.equal(result?.['sandboxType'], 'linuxSeccomp');
    assert.equal(await client.closed('none'), 101);
    await client.script('real', 'exit 127', { cwd: root, sandbox: readOnly(root) });
    assert.equal(await client.closed('real'), 127);
  });

  it('inherits nothing of how the server was started', async () => {
    const envPolicy = { inherit: 'all', ignoreDefaultExcludes: true, exclude: [], set: {}, includeOnly: [] };
    const other = await TestServer.start(undefined, { ...process.env, ELECTRON_RUN_AS_NODE: '1' });
    const own = await other.connect();
    await own.start('env', ['/usr/bin/env'], { envPolicy });
    await own.closed('env');
    assert.doesNotMatch(own.outputOf('env').toString(), /ELECTRON_RUN_AS_NODE/);
    own.close();
    await other.stop();
  });

  it('refuses what is no policy, no name of a program, nobody’s connection, and another folder', async () => {
    const root = pathToFileURL(folder.path).href;
    for (const [code, cordon] of [
      [-32602, { policy: { root } }],
      [-32602, { door: { programs: ['../git'] } }],
      [-32600, { streams: 'a'.repeat(32) }],
      [-32603, { folder: { device: '1', inode: '1' } }],
    ] as const) {
      assert.equal(await client.code('process/start', startParams('bad', ['/bin/true'], { cordon })), code);
    }
  });

  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    it(`leaves no command behind when it ends by ${signal}`, async () => {
      const mark = `${process.pid}-${signal}`;
      const other = await TestServer.start();
      const own = await other.connect();
      const env = { PATH: '/usr/bin:/bin', CORDON_MARK: mark };
      const deaf = `trap '' TERM INT HUP; setsid sleep 1000 & echo up; while :; do sleep 0.1; done`;
      const cwd = pathToFileURL(folder.path).href;
      await own.script('pipe', deaf, { env });
      await own.script('tty', deaf, { env, tty: true });
      await own.script('confined', deaf, { env, cwd, sandbox: readOnly(cwd) });
      await waitFor('all commands', () =>
        ['pipe', 'tty', 'confined'].every((id) => own.outputOf(id).includes('up')),
      );
      const running = processesWithEnvironment('CORDON_MARK', mark);
      assert.ok(running.length >= 6, `${running.length}`);
      other.process.kill(signal);
      assert.equal(await other.exitCode, signal === 'SIGTERM' ? 0 : null);
      await assertEnded(running);
      assert.deepEqual(processesWithEnvironment('CORDON_MARK', mark), []);
    });
  }

  async function resumable(): Promise<{ client: TestClient; id: string }> {
    const fresh = await server.connect({ greet: false });
    return { client: fresh, id: await fresh.greet() };
  }

  async function trySession(on: TestClient, resumeSessionId: string): Promise<number | undefined> {
    const { error } = await on.call('initialize', { clientName: 'test', resumeSessionId });
    return error?.code;
  }

  function readOnly(root: string): object {
    return {
      permissions: {
        type: 'managed',
        file_system: {
          type: 'restricted',
          entries: [{ path: { type: 'special', value: { kind: 'root' } }, access: 'read' }],
        },
        network: 'restricted',
      },
      cwd: root,
      workspaceRoots: [root],
      windowsSandboxLevel: 'disabled',
    };
  }
});
