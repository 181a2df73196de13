import { join } from 'node:path';
import { ok } from '../../../src/base/result.ts';
import { connectExecClient } from '../../../src/runtime/execServer/client/connectExecClient.ts';
import { dialUnixSocket } from '../../../src/runtime/execServer/client/dial.ts';
import type { ExecClient } from '../../../src/runtime/execServer/client/execClient.ts';
import { RemoteBackend } from '../../../src/runtime/execServer/client/remoteBackend.ts';
import { describeClientFaults } from '../../harness/clientFaultSuite.ts';
import type { SpawnedServer } from '../../harness/spawnedServer.ts';
import { startCordonServer } from '../../harness/cordonServer.ts';
import { describeBackend } from '../../harness/execBackendSuite.ts';
import type { TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';

describe('the client of Cordon’s own exec-server', () => {
  let folder: TemporaryFolder;
  let server: SpawnedServer;
  let client: ExecClient;
  before(async () => {
    folder = await createTemporaryFolder('client');
    const path = join(folder.path, 'socket');
    server = await startCordonServer(`unix:${path}`);
    client = await connectExecClient(dialUnixSocket(path));
  });
  after(async () => {
    client.dispose();
    await server.dispose();
    await folder.dispose();
  });

  for (const mode of ['danger-full-access', 'workspace-write'] as const) {
    describeBackend('on an exec-server', mode, () => new RemoteBackend({ connect: async () => ok(client) }));
  }
});

describeClientFaults('Cordon’s own exec-server', () => startCordonServer());
