import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { appendFile, cp } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createLocalBackend } from '../../../src/runtime/exec/localBackend.ts';
import type { ExecProcess, StartParams } from '../../../src/runtime/exec/execBackend.ts';
import type { Environment } from '../../../src/runtime/environments/environment.ts';
import { ServerRecords } from '../../../src/runtime/environments/local/serverRecords.ts';
import { SessionManager } from '../../../src/runtime/sessions/sessionManager.ts';
import type { LocalPrograms } from '../../harness/localEnvironment.ts';
import { createLocalPrograms } from '../../harness/localEnvironment.ts';
import { isStillAlive } from '../../harness/processes.ts';
import { createTestSandbox, testPolicy } from '../../harness/testRuntime.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';
import type { TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { waitFor } from '../../harness/waitFor.ts';

const env = { PATH: '/usr/bin:/bin', HOME: '/root', TERM: 'xterm-256color' };

describe('this machine as an environment', () => {
  let programs: LocalPrograms;
  let root: TemporaryFolder;

  beforeEach(async () => {
    programs = await createLocalPrograms();
    root = await createTemporaryFolder('root');
  });
  afterEach(async () => {
    await programs.dispose();
    await root.dispose();
  });

  const params = (script: string, more: Partial<StartParams> = {}): StartParams => ({
    argv: ['/bin/bash', '-c', script],
    cwd: root.path,
    env,
    policy: testPolicy(root.path),
    label: 'x',
    ...more,
  });
  const start = async (environment: Environment, script: string, more?: Partial<StartParams>) => {
    const started = await environment.backend.start(params(script, more));
    assert.ok(started.ok, JSON.stringify(started));
    return started.value;
  };
  const output = async (process: ExecProcess): Promise<string> => {
    await process.closed;
    const { chunks } = await process.read({ afterSeq: 0 });
    return Buffer.concat(chunks.map(({ chunk }) => chunk)).toString();
  };

  it('starts its server with the first command, and in no earlier moment', async () => {
    const environment = programs.open();
    assert.deepEqual(await environment.backend.found?.(), []);
    assert.equal(programs.servers().length, 0);
    assert.equal(await output(await start(environment, 'echo "$CORDON_X" hello')), ' hello\n');
    assert.equal(programs.servers().length, 1);
    assert.equal(environment.state.kind, 'connected');
  });

  it('starts one server however many ask at once', async () => {
    const environment = programs.open();
    environment.prewarm();
    const all = await Promise.all(['1', '2', '3'].map((word) => start(environment, `echo ${word}`)));
    assert.deepEqual(await Promise.all(all.map(output)), ['1\n', '2\n', '3\n']);
    assert.equal(programs.servers().length, 1);
    assert.equal(programs.records.list().length, 1);
  });

  it('confines what it runs', async () => {
    const outside = await createTemporaryFolder('outside');
    const process = await start(programs.open(), `echo x > ${outside.path}/x; echo "status $?"`);
    assert.match(await output(process), /status [^0]/);
    assert.notEqual(process.sandbox, 'none');
    await outside.dispose();
  });

  it('goes on when the program ends, and the next one takes it over', async () => {
    const first = programs.open();
    const sessions = new SessionManager(first.backend);
    const started = await sessions.start({
      ...params('read first; echo "before $first"; read line; echo "got $line"'),
      ...{ tty: { columns: 80, rows: 24 }, commandLine: 'the script', owner: 'agent' },
      root: { name: 'w', path: root.path },
    });
    assert.ok(started.ok);
    const { id, policy, startedAt } = started.value;
    started.value.write('typing\r');
    await waitFor('the first output', async () => (await started.value.replay()).includes('before'));
    assert.equal((await started.value.takeAnswer('screen', 100)).text, 'typing\nbefore typing');
    await sessions.dispose();
    first.dispose();

    const later = new SessionManager(programs.open().backend);
    const [session] = await later.restore(() => undefined);
    assert.ok(session);
    assert.deepEqual([session.id, session.policy, session.startedAt], [id, policy, startedAt]);
    assert.match(await session.replay(), /before/);
    assert.ok(session.write('typed\r'));
    await session.closed;
    assert.equal((await session.takeAnswer('screen', 100)).text, 'typed\ngot typed');
    assert.equal(programs.servers().length, 1);
    await later.dispose();
  });

  it('tells what ran on a server that dies that it is lost, and starts another one', async () => {
    const environment = programs.open();
    const process = await start(environment, 'sleep 600');
    const [server] = programs.servers();
    assert.ok(server);
    globalThis.process.kill(server.pid, 'SIGKILL');
    await process.closed;
    assert.match(process.exit?.failure ?? '', /lost/);
    assert.equal(await output(await start(environment, 'echo again')), 'again\n');
    assert.equal(isStillAlive(server), false);
    assert.equal(programs.records.list().length, 1);
  });

  it('leaves the session of another program that is there alone', async () => {
    const first = programs.open();
    const process = await start(first, 'read line; echo "got $line"', { pipeStdin: true });
    const second = programs.open();
    assert.deepEqual(await second.backend.found?.(), []);
    assert.equal(await output(await start(second, 'echo second')), 'second\n');
    assert.equal(programs.servers().length, 2);
    process.write(Buffer.from('first\n'));
    assert.equal(await output(process), 'got first\n');
  });

  it('forgets servers that have ended, and their sockets', async () => {
    const first = programs.open();
    await start(first, 'true');
    first.dispose();
    const [server] = programs.servers();
    globalThis.process.kill(server?.pid ?? 0, 'SIGKILL');
    await waitFor('its end', () => programs.servers().length === 0);
    const second = programs.open();
    assert.deepEqual(await second.backend.found?.(), []);
    assert.deepEqual(programs.records.list(), []);
    assert.equal(programs.servers().length, 0);
  });

  it('connects although the record of a server that has ended cannot be removed', async () => {
    const stale = { path: join(programs.runtimeFolder, 'none.sock'), sessionId: 'x' };
    const records = new ServerRecords({
      get: () => [stale],
      async update(_, value) {
        if (!(value as readonly object[]).some((record) => isDeepStrictEqual(record, stale))) {
          throw new Error('the disk is full');
        }
      },
    });
    const environment = programs.open({ records });
    assert.deepEqual(await environment.backend.found?.(), []);
    assert.equal(await output(await start(environment, 'echo hello')), 'hello\n');
  });

  it('ends sessions that nobody takes over, then itself', async () => {
    const environment = programs.open({ patience: { detachedSeconds: 1, idleSeconds: 1 } });
    await start(environment, 'sleep 600', { policy: testPolicy(root.path, { mode: 'danger-full-access' }) });
    environment.dispose();
    await waitFor('nothing of it', () => programs.servers().length === 0);
  });

  describe('asks no server that others could have put there, as into a folder that was emptied meanwhile', () => {
    const pretences: Readonly<Record<string, (folder: string, socket: string) => void>> = {
      'as the folder is open': (folder) => chmodSync(folder, 0o755),
      'as the folder is a link': (folder) => {
        renameSync(folder, `${folder}-elsewhere`);
        symlinkSync(`${folder}-elsewhere`, folder);
      },
      ...(process.getuid?.() === 0 && {
        'as the folder is theirs': (folder) => chownSync(folder, 65_534, 65_534),
        'as the socket is theirs': (_, socket) => chownSync(socket, 65_534, 65_534),
      }),
      'unless nothing speaks for it': () => {},
    };
    for (const [name, pretend] of Object.entries(pretences)) {
      it(name, async () => {
        const folder = join(root.path, 'run');
        mkdirSync(folder, { mode: 0o700 });
        const path = join(folder, 'exec-0.sock');
        const asked: string[] = [];
        const fake = createServer((socket) => {
          socket.on('data', (data) => asked.push(String(data)));
          setTimeout(() => socket.destroy(), 100);
        });
        await once(fake.listen(path), 'listening');
        pretend(folder, path);
        await programs.records.add({ path, sessionId: 'before' });
        assert.deepEqual(await programs.open().backend.found?.(), []);
        fake.close();
        assert.equal(asked.length > 0, name === 'unless nothing speaks for it');
      });
    }
  });

  describe('after an update', () => {
    /** The program of another build. */
    const updated = async (): Promise<string> => {
      const dist = join(import.meta.dirname, '../../../dist');
      const folder = join(programs.runtimeFolder, '../updated');
      const isNeeded = (path: string): boolean => !path.endsWith('.map') && relative(dist, path) !== 'test';
      await cp(dist, folder, { recursive: true, filter: isNeeded });
      await appendFile(join(folder, 'cli/execServer.js'), '\n// newer\n');
      return join(folder, 'cli.js');
    };

    it('leaves a server in which nothing runs', async () => {
      const first = programs.open();
      await output(await start(first, 'true'));
      first.dispose();
      const [old] = programs.records.list();
      const later = programs.open({ program: await updated() });
      assert.deepEqual(await later.backend.found?.(), []);
      assert.deepEqual(programs.records.list(), []);
      assert.equal(await output(await start(later, 'echo new')), 'new\n');
      assert.notEqual(programs.records.list()[0]?.path, old?.path);
    });

    it('goes on with a server for as long as something runs in it, and says so', async () => {
      const first = programs.open();
      await start(first, 'read line', { pipeStdin: true });
      first.dispose();
      const [old] = programs.records.list();
      const later = programs.open({ program: await updated() });
      const [found] = (await later.backend.found?.()) ?? [];
      assert.ok(found && later.state.kind === 'connected' && later.state.isOtherBuild);
      assert.equal(await output(await start(later, 'echo beside it')), 'beside it\n');
      assert.equal(programs.records.list()[0]?.path, old?.path);
      found.process.write(Buffer.from('the end\n'));
      await found.process.closed;
      assert.equal(await output(await start(later, 'echo new')), 'new\n');
      assert.notEqual(programs.records.list()[0]?.path, old?.path);
    });
  });

  it('says why there is no server', async () => {
    const environment = programs.open({ program: join(root.path, 'missing.js') });
    const started = await environment.backend.start(params('true'));
    assert.ok(!started.ok);
    assert.match(started.error.message, /could not be started.*missing\.js/s);
    assert.equal(environment.state.kind, 'failed');
  });

  it('says why it has no place for its socket', async () => {
    const environment = programs.open({
      runtimeFolder: () => ({
        ok: false,
        error: { message: 'The folder is not yours.', hint: 'Change it.' },
      }),
    });
    const started = await environment.backend.start(params('true'));
    assert.ok(!started.ok);
    assert.equal(started.error.message, 'The folder is not yours.');
  });

  it('never lets the program load what makes terminals, which the other way does', async () => {
    const isLoaded = (): boolean => loadedAddons().length > 0;
    const before = isLoaded();
    await output(await start(programs.open(), 'tty', { tty: { columns: 80, rows: 24 } }));
    assert.equal(isLoaded(), before);
    const here = await createLocalBackend(createTestSandbox()).start(
      params('tty', { tty: { columns: 80, rows: 24 } }),
    );
    assert.ok(here.ok);
    await here.value.closed;
    assert.equal(isLoaded(), true);
  });
});

function loadedAddons(): readonly string[] {
  const { sharedObjects } = process.report.getReport() as unknown as {
    readonly sharedObjects: readonly string[];
  };
  return sharedObjects.filter((path) => path.endsWith('pty.node'));
}
