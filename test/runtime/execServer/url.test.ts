import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { silentLog } from '../../../src/base/log.ts';
import type { EnvironmentError } from '../../../src/runtime/environments/environment.ts';
import type { UrlSettings } from '../../../src/runtime/environments/urlEnvironment.ts';
import { urlProvider } from '../../../src/runtime/environments/urlEnvironment.ts';
import { startCordonServer } from '../../harness/cordonServer.ts';
import { describePatches } from '../../harness/patchSuite.ts';
import { describeRemoteReviews } from '../../harness/remoteReviewSuite.ts';
import type { TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';
import { createTestRuntime } from '../../harness/testRuntime.ts';

const services = { log: silentLog, bundleFolder: '/no/bundle', version: '0' };
const program = join(import.meta.dirname, '../../../dist/cli.js');

describeRemoteReviews("on Cordon's exec-server", () => startCordonServer());

describe('an environment of type url', () => {
  let folder: TemporaryFolder;
  let server: ChildProcess;
  let url: string;
  const tokenFile = (): string => join(folder.path, 'token');

  before(async () => {
    folder = await createTemporaryFolder('url');
    await writeFile(tokenFile(), 'a-token-of-some-length\n', { mode: 0o600 });
    await writeFile(join(folder.path, 'wrong'), 'another-token', { mode: 0o600 });
    const auth = ['--ws-auth', 'capability-token', '--ws-token-file', tokenFile()];
    server = spawn(process.execPath, [program, 'exec-server', ...auth], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const lines = createInterface(server.stdout as NonNullable<typeof server.stdout>);
    [url = ''] = (await once(lines, 'line')) as [string];
  });
  after(async () => {
    server.kill();
    await once(server, 'exit');
    await folder.dispose();
  });

  function open(settings: Partial<UrlSettings>) {
    return urlProvider.open('there', { url, folder: folder.path, ...settings }, services);
  }

  async function failure(settings: Partial<UrlSettings>): Promise<EnvironmentError> {
    const environment = open(settings);
    const connected = await environment.connect();
    environment.dispose();
    assert.ok(!connected.ok, 'it connected');
    assert.deepEqual(environment.state, { kind: 'failed', error: connected.error });
    return connected.error;
  }

  it('says that the token is wrong, missing, or nowhere', async () => {
    const wrong = await failure({ tokenFile: join(folder.path, 'wrong') });
    assert.equal(wrong.kind, 'refused');
    assert.match(wrong.message, /401: invalid websocket bearer token/);
    const missing = await failure({});
    assert.equal(missing.kind, 'refused');
    assert.match(missing.hint, /"tokenFile"/);
    const nowhere = await failure({ tokenFile: join(folder.path, 'none') });
    assert.equal(nowhere.kind, 'invalid-settings');
    assert.match(nowhere.message, /none cannot be read: ENOENT/);
  });

  it('says that nobody listens', async () => {
    const error = await failure({ url: 'ws://127.0.0.1:1' });
    assert.equal(error.kind, 'unreachable');
    assert.match(error.message, /ws:\/\/127\.0\.0\.1:1 cannot be reached: .*ECONNREFUSED/);
  });

  it('says that it is another kind of server', async () => {
    const other = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const error = await failure({ url: `ws://127.0.0.1:${(other.address() as AddressInfo).port}` });
    assert.equal(error.kind, 'wrong-version');
    assert.match(error.message, /no exec-server/);
    other.close();
  });

  describePatches('by address', async (user, env, options) => {
    const own = await createTemporaryFolder('there');
    const environment = open({ tokenFile: tokenFile(), folder: own.path });
    const runtime = await createTestRuntime(user, env, { ...options, environment });
    return {
      ...runtime,
      async dispose() {
        await runtime.dispose();
        environment.dispose();
        await own.dispose();
      },
    };
  });
});
