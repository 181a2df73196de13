import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectExecClient } from '../../../src/runtime/execServer/client/connectExecClient.ts';
import { dialUnixSocket } from '../../../src/runtime/execServer/client/dial.ts';
import type { ExecClient } from '../../../src/runtime/execServer/client/execClient.ts';
import type { WirePolicy } from '../../../src/runtime/execServer/protocol/cordon.ts';
import { uriOf } from '../../../src/runtime/execServer/protocol/fileUri.ts';
import { toWire } from '../../../src/runtime/execServer/services/sandboxContext/wirePolicy.ts';
import type { SpawnedServer } from '../../harness/spawnedServer.ts';
import { startCordonServer } from '../../harness/cordonServer.ts';
import { contextOf } from '../../harness/sandboxContexts.ts';
import type { TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';
import { testPolicy } from '../../harness/testRuntime.ts';

/** All of it lies in a folder that the policy lets be written. */
describe('what an exec-server and its client rely on is not written on behalf of what is confined', () => {
  let folder: TemporaryFolder;
  let server: SpawnedServer;
  let client: ExecClient;
  before(async () => {
    folder = await createTemporaryFolder('own');
    mkdirSync(join(folder.path, 'run'), { mode: 0o700 });
    mkdirSync(join(folder.path, 'grants'));
    const path = join(folder.path, 'run', 'socket');
    server = await startCordonServer(`unix:${path}`, ['--log', join(folder.path, 'log')]);
    client = await connectExecClient(dialUnixSocket(path));
    const trustedPaths = [uriOf(join(folder.path, 'grants'))];
    await client.call('cordon/configure', { untrustedFolders: [], trustedPaths });
  });
  after(async () => {
    client.dispose();
    await server.dispose();
    await folder.dispose();
  });

  const policy = (): WirePolicy => toWire(testPolicy(folder.path));
  const patch = async (name: string): Promise<string | undefined> => {
    const planned = await client.call('cordon/patch/plan', {
      patch: `*** Begin Patch\n*** Add File: ${name}\n+mine\n*** End Patch\n`,
      cwd: uriOf(folder.path),
      policy: policy(),
      isWatched: false,
    });
    assert.ok('plan' in planned);
    const params = { plan: planned.plan, policy: policy(), accepted: [] };
    const { problem } = await client.call('cordon/patch/apply', params);
    assert.equal(planned.refusals[0]?.message, problem?.message);
    return problem?.message;
  };
  const write = async (name: string): Promise<unknown> => {
    const sandbox = contextOf(
      [
        { path: { type: 'special', value: { kind: 'root' } }, access: 'read' },
        { path: { type: 'path', path: uriOf(folder.path) }, access: 'write' },
      ],
      { cwd: uriOf(folder.path) },
    );
    const path = uriOf(join(folder.path, name));
    return client.call('fs/writeFile', { path, dataBase64: 'bWluZQ==', followSymlinks: true, sandbox });
  };

  for (const name of ['log', 'run/other', 'grants/grant.json']) {
    it(`${name}, by a patch or a file call`, async () => {
      assert.match((await patch(name)) ?? '', /protected|not be written/);
      await assert.rejects(write(name));
    });
  }

  it('while all else in that folder is', async () => {
    assert.equal(await patch('a'), undefined);
    await write('b');
    assert.equal(readFileSync(join(folder.path, 'b'), 'utf8'), 'mine');
  });
});
