import { ok } from '../../src/base/result.ts';
import { connectExecClient } from '../../src/runtime/execServer/client/connectExecClient.ts';
import { dialWebSocket } from '../../src/runtime/execServer/client/dial.ts';
import type { ExecClient } from '../../src/runtime/execServer/client/execClient.ts';
import { RemoteBackend } from '../../src/runtime/execServer/client/remoteBackend.ts';
import { describeClientFaults } from '../harness/clientFaultSuite.ts';
import type { SpawnedServer } from '../harness/spawnedServer.ts';
import { startCodexServer } from '../harness/codexServer.ts';
import { describeBackend } from '../harness/execBackendSuite.ts';
import { describeExecTools } from '../harness/execToolsSuite.ts';
import { describeInteractive } from '../harness/interactiveSuite.ts';
import type { CreateTestRuntime } from '../harness/testRuntime.ts';
import { createTestRuntime } from '../harness/testRuntime.ts';

describe('Cordon as a client of the real codex exec-server', () => {
  let server: SpawnedServer;
  let client: ExecClient;
  before(async () => {
    server = await startCodexServer();
    client = await connectExecClient(dialWebSocket(server.url));
  });
  after(async () => {
    client.dispose();
    await server.dispose();
  });

  const makeBackend = (): RemoteBackend => new RemoteBackend({ connect: async () => ok(client) });
  const traits = { resizes: false, signals: false };
  for (const mode of ['danger-full-access', 'workspace-write'] as const) {
    describeBackend('on a codex exec-server', mode, makeBackend, traits, {
      // It ends the launcher, and what the launcher has just made stays.
      leavesStartedSandboxes: mode !== 'danger-full-access',
      tellsExitEarly: true,
    });
  }
  const createRuntime: CreateTestRuntime = (user, parentEnv, options) =>
    createTestRuntime(user, parentEnv, { ...options, backend: makeBackend() });
  describeExecTools('on a codex exec-server', createRuntime, false);
  // In its sandbox, what a terminal makes of Ctrl-C and Ctrl-Z ends the launcher.
  describeInteractive('on a codex exec-server', () => createRuntime({ mode: 'danger-full-access' }), {
    isConfined: false,
  });
});

describeClientFaults('the real codex exec-server', startCodexServer);
