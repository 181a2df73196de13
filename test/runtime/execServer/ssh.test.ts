import assert from 'node:assert/strict';
import { mkdir, symlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLog } from '../../../src/base/log.ts';
import type { AuditEntry } from '../../../src/runtime/audit/auditEntry.ts';
import { auditLines } from '../../../src/runtime/audit/auditWords.ts';
import type { Environment, SessionMemory } from '../../../src/runtime/environments/environment.ts';
import { sshProvider } from '../../../src/runtime/environments/sshEnvironment.ts';
import { describeBackend } from '../../harness/execBackendSuite.ts';
import { describeExecTools } from '../../harness/execToolsSuite.ts';
import { describeInteractive } from '../../harness/interactiveSuite.ts';
import { describePatches } from '../../harness/patchSuite.ts';
import type { SshServer } from '../../harness/sshServer.ts';
import { startSshServer } from '../../harness/sshServer.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';
import type { CreateTestRuntime } from '../../harness/testRuntime.ts';
import { createTestRuntime, testPolicy } from '../../harness/testRuntime.ts';
import { waitFor } from '../../harness/waitFor.ts';

const services = {
  log: silentLog,
  bundleFolder: join(import.meta.dirname, '../../../dist'),
  version: '0.0.0-test',
};

describe('over ssh', () => {
  let server: SshServer;
  let environment: Environment;

  before(async () => {
    server = await startSshServer();
    environment = open();
  });
  after(async () => {
    environment.dispose();
    await server.dispose();
  });

  function open(sessions?: SessionMemory): Environment {
    const settings = { host: server.host, sshPath: server.sshPath, folder: server.home };
    return sshProvider.open('box', settings, { ...services, ...(sessions && { sessions }) });
  }

  /** Each with a folder of its own on the host, all over one connection. */
  const createRemoteRuntime: CreateTestRuntime = async (user, env, options) => {
    const folder = await createTemporaryFolder('there');
    const there: Environment = {
      ...{ name: environment.name, address: environment.address, folder: folder.path },
      ...{ state: environment.state, onDidChangeState: environment.onDidChangeState },
      backend: environment.backend,
      connect: () => environment.connect(),
      prewarm: () => environment.prewarm(),
      dispose: () => undefined,
    };
    const runtime = await createTestRuntime(user, env, { ...options, environment: there });
    return {
      ...runtime,
      async dispose() {
        // Another program could take them over.
        await Promise.all(runtime.runtime.sessions.known().map((session) => session.terminate()));
        await runtime.dispose();
        await folder.dispose();
      },
    };
  };

  for (const mode of ['workspace-write', 'danger-full-access'] as const) {
    describeBackend('over ssh', mode, () => environment.backend);
  }
  describeExecTools('over ssh', createRemoteRuntime);
  describeInteractive('over ssh', createRemoteRuntime);
  describePatches('over ssh', createRemoteRuntime);

  it('asks the host what a policy means there, and tells it of nothing that was granted elsewhere', async () => {
    const test = await createRemoteRuntime();
    const target = await createTemporaryFolder('target');
    const write = `touch ${target.path}/x && echo written`;
    const common = { root: test.localRoot, lasts: 'session', because: 'a test' } as const;
    const what = { kind: 'path', path: target.path, access: 'write' } as const;
    await test.grants.add({ ...common, what });
    assert.doesNotMatch((await test.call('exec_command', { cmd: write })).text, /^written$/m);
    await test.grants.add({ ...common, what, environment: 'other' });
    assert.doesNotMatch((await test.call('exec_command', { cmd: write })).text, /^written$/m);
    await test.grants.add({ ...common, what, environment: 'box' });
    assert.match((await test.call('exec_command', { cmd: write })).text, /^written$/m);
    await target.dispose();
    await test.dispose();
  });

  it('opens nothing by a granted path that has become a link on the host', async () => {
    const test = await createRemoteRuntime();
    const [granted, target] = [await createTemporaryFolder('granted'), await createTemporaryFolder('target')];
    await test.grants.add({
      root: test.localRoot,
      environment: 'box',
      what: { kind: 'path', path: granted.path, access: 'write' },
      lasts: 'session',
      because: 'a test',
    });
    await granted.dispose();
    await symlink(target.path, granted.path);
    const { text } = await test.call('exec_command', { cmd: `touch ${target.path}/x && echo written` });
    assert.doesNotMatch(text, /^written$/m);
    await unlink(granted.path);
    await target.dispose();
    await test.dispose();
  });

  it('says in the audit log and on the card on which machine a command runs', async () => {
    const test = await createRemoteRuntime();
    await test.call('exec_command', { cmd: 'true' });
    const { audited } = test;
    assert.ok(audited.length >= 2);
    assert.ok(
      audited.every((entry) => entry.environment === 'box'),
      JSON.stringify(audited),
    );
    const [line = '', details = ''] = auditLines({
      ...audited[0],
      version: 1,
      at: '2026-01-01T00:00:00Z',
    } as AuditEntry);
    assert.match(`${line} ${details}`, / on box/);
    await test.dispose();
  });

  it('takes a path of this machine for the folder on the host that it stands for', async () => {
    const test = await createRemoteRuntime();
    await mkdir(join(test.root, 'src'));
    const { text } = await test.call('exec_command', { cmd: 'pwd', workdir: join(test.localRoot, 'src') });
    assert.match(text, new RegExp(`Output:\n${test.root}/src\n$`));
    await test.dispose();
  });

  it('goes on after a reload with what it left running', async () => {
    let remembered: string | undefined;
    const sessions: SessionMemory = {
      sessionOf: () => remembered,
      remember: (_, sessionId) => (remembered = sessionId),
    };
    const before = open(sessions);
    assert.deepEqual(await before.backend.found?.(), []);
    const started = await before.backend.start({
      argv: ['/bin/bash', '-c', 'echo before; read line; echo "got $line"'],
      cwd: server.home,
      env: { PATH: '/usr/bin:/bin' },
      policy: testPolicy(server.home),
      pipeStdin: true,
      label: 'the label',
    });
    assert.ok(started.ok);
    await waitFor(
      'the first line',
      async () => (await started.value.read({ afterSeq: 0 })).chunks.length > 0,
    );
    before.dispose();
    const after = open(sessions);
    const [found, ...others] = (await after.backend.found?.()) ?? [];
    assert.ok(found !== undefined && others.length === 0);
    assert.equal(found.label, 'the label');
    found.process.write(Buffer.from('it\n'));
    await found.process.closed;
    const { chunks } = await found.process.read({ afterSeq: 0 });
    assert.equal(Buffer.concat(chunks.map(({ chunk }) => chunk)).toString(), 'before\ngot it\n');
    after.dispose();
    // Somebody who remembers what is gone begins anew.
    remembered = '00000000-0000-4000-8000-000000000000';
    const anew = open(sessions);
    assert.ok((await anew.connect()).ok);
    anew.dispose();
  });

  it('loses and repeats nothing when the connection breaks again and again', async () => {
    const test = await createRemoteRuntime();
    const session = await test.open('for i in $(seq 1 400); do echo "line $i"; sleep 0.01; done', {
      tty: false,
    });
    for (let cut = 0; cut < 4; cut++) {
      await new Promise((resolve) => setTimeout(resolve, 300));
      server.cutConnections();
    }
    await session.closed;
    const { text } = await test.call('write_stdin', { session_id: session.id, max_output_tokens: 100_000 });
    const lines = [...text.matchAll(/^line (\d+)$/gm)].map(([, number]) => Number(number));
    assert.equal(new Set(lines).size, lines.length, 'a line came twice');
    assert.equal(lines.at(-1), 400);
    await test.dispose();
  });
});
