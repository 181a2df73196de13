import assert from 'node:assert/strict';
import { silentLog } from '../../../src/base/log.ts';
import type { Environment } from '../../../src/runtime/environments/environment.ts';
import { urlProvider } from '../../../src/runtime/environments/urlEnvironment.ts';
import { startCordonServer } from '../../harness/cordonServer.ts';
import type { LocalPrograms } from '../../harness/localEnvironment.ts';
import { createLocalPrograms } from '../../harness/localEnvironment.ts';
import type { SpawnedServer } from '../../harness/spawnedServer.ts';
import type { TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';
import type { TestRuntime } from '../../harness/testRuntime.ts';
import { createTestRuntime } from '../../harness/testRuntime.ts';
import { waitFor } from '../../harness/waitFor.ts';

interface Place {
  readonly runtime: TestRuntime;
  /** Kills the server; where nothing starts another one by itself, there is one afterwards. */
  restart(): Promise<void>;
  dispose(): Promise<void>;
}

async function thisMachine(): Promise<Place> {
  const programs: LocalPrograms = await createLocalPrograms();
  const environment = programs.open();
  const runtime = await createTestRuntime({}, process.env, { backend: environment.backend });
  return {
    runtime,
    async restart() {
      const servers = programs.servers();
      assert.equal(servers.length, 1);
      servers.forEach(({ pid }) => process.kill(pid, 'SIGKILL'));
    },
    async dispose() {
      await runtime.dispose();
      await programs.dispose();
    },
  };
}

async function anotherMachine(): Promise<Place> {
  const folder: TemporaryFolder = await createTemporaryFolder('there');
  let server: SpawnedServer = await startCordonServer();
  const { url } = server;
  const environment: Environment = urlProvider.open(
    'there',
    { url, folder: folder.path },
    { log: silentLog, bundleFolder: '/no/bundle', version: '0' },
  );
  const runtime = await createTestRuntime({}, process.env, { environment });
  return {
    runtime,
    async restart() {
      server.kill();
      server = await startCordonServer(url);
    },
    async dispose() {
      await runtime.dispose();
      environment.dispose();
      await server.dispose();
      await folder.dispose();
    },
  };
}

/** What an agent reads of a session that is lost: what happened, and what to do. */
const lost =
  /Process exited with code 255\nLost: the connection to the machine that runs it is lost: .*(its server has ended|does not have the session any more).*look at what it would have changed before running it again; the next command connects anew\./;

for (const [where, open] of [
  ['on this machine', thisMachine],
  ['on another machine', anotherMachine],
] as const) {
  describe(`an agent ${where} whose server is started again`, () => {
    let place: Place;
    beforeEach(async () => {
      place = await open();
    });
    afterEach(() => place.dispose());

    it('is told what happened and what to do, and goes on there', async () => {
      const agent = place.runtime;
      const polled = await agent.open('echo ready; read x', { yield_time_ms: 1_000 });
      const unwatched = await agent.open('echo ready; read x', { yield_time_ms: 1_000 });
      const poll = agent.call('write_stdin', { session_id: polled.id, yield_time_ms: 30_000 });
      const inFront = agent.call('exec_command', { cmd: 'echo in front; sleep 600', yield_time_ms: 30_000 });
      await waitFor('the output of the command in front', async () => {
        const [latest] = agent.runtime.sessions
          .known()
          .filter(({ commandLine }) => commandLine.includes('front'));
        return (await latest?.replay())?.includes('in front');
      });
      const restarted = place.restart();
      const meanwhile = agent.call('exec_command', { cmd: 'echo meanwhile' });
      await restarted;

      assert.match((await poll).text, lost);
      assert.match((await inFront).text, new RegExp(`${lost.source}[^]*Output:\nin front\n$`));
      const { text } = await meanwhile;
      assert.match(
        text,
        /exec_command failed: [^]*(Nothing was run\. Run it again|Look at what it would have done)/,
      );
      await unwatched.closed;
      const late = await agent.call('write_stdin', { session_id: unwatched.id, chars: 'x\r' });
      assert.match(late.text, lost);
      assert.match((await agent.call('write_stdin', { session_id: polled.id })).text, /Unknown process id/);
      const ends = agent.audited.filter((event) => event.kind === 'end' && event.session !== undefined);
      assert.equal(ends.length, 3);
      for (const event of ends) {
        assert.match(JSON.stringify(event), /"failure":"the connection [^"]* is lost/);
      }

      const next = await agent.open('read line; echo "got $line"');
      assert.match(await agent.type(next, 'it\r', { yield_time_ms: 5_000 }), /exited with code 0[^]*got it/);
    });
  });
}
