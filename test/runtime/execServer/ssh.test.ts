import assert from 'node:assert/strict';
import { join } from 'node:path';
import { silentLog } from '../../../src/base/log.ts';
import type { Environment } from '../../../src/runtime/environments/environment.ts';
import { sshProvider } from '../../../src/runtime/environments/sshEnvironment.ts';
import { describeBackend } from '../../harness/execBackendSuite.ts';
import { describeExecTools } from '../../harness/execToolsSuite.ts';
import { describeInteractive } from '../../harness/interactiveSuite.ts';
import type { SshServer } from '../../harness/sshServer.ts';
import { startSshServer } from '../../harness/sshServer.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';
import type { CreateTestRuntime } from '../../harness/testRuntime.ts';
import { createTestRuntime } from '../../harness/testRuntime.ts';

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

  function open(folder = server.home): Environment {
    return sshProvider.open('box', { host: server.host, sshPath: server.sshPath, folder }, services);
  }

  /** Each with a folder of its own on the host, all over one connection. */
  const createRemoteRuntime: CreateTestRuntime = async (user, env, options) => {
    const folder = await createTemporaryFolder('there');
    const there: Environment = {
      ...{ name: environment.name, address: environment.address, folder: folder.path },
      ...{ state: environment.state, onDidChangeState: environment.onDidChangeState },
      backend: environment.backend,
      connect: (signal) => environment.connect(signal),
      prewarm: () => environment.prewarm(),
      dispose: () => undefined,
    };
    const runtime = await createTestRuntime(user, env, { ...options, environment: there });
    return {
      ...runtime,
      async dispose() {
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
