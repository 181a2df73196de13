import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ok } from '../../../src/base/result.ts';
import { errorCodes } from '../../../src/runtime/execServer/protocol/errors.ts';
import { uriOf } from '../../../src/runtime/execServer/protocol/fileUri.ts';
import type { SandboxContext } from '../../../src/runtime/execServer/protocol/sandboxContext.ts';
import { AnswerBudget } from '../../../src/runtime/execServer/server/answerBudget.ts';
import { longestAnswer } from '../../../src/runtime/execServer/services/files/limits.ts';
import { createFileService } from '../../../src/runtime/execServer/services/files/fileService.ts';
import type { SandboxPolicy } from '../../../src/sandbox/policy/policy.ts';
import type { SandboxManager } from '../../../src/sandbox/sandboxManager.ts';
import { Arena } from '../../escape/harness.ts';
import { ServiceClient } from '../../harness/fileServiceClient.ts';
import { policyOf } from '../../harness/policyOf.ts';
import { waitFor } from '../../harness/waitFor.ts';
import { bringWorker, judgeFacts, workerArgv } from '../../harness/workerBundle.ts';

const { internal, invalidRequest, notFound } = errorCodes;
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('File calls in a sandbox', function () {
  this.timeout(60_000);
  before(function () {
    if (process.platform !== 'linux') this.skip();
    bringWorker();
  });

  let arena: Arena;
  let client: ServiceClient;
  let policy: SandboxPolicy;
  /** How many workers were started, and how many of them have ended. */
  let workers: { started: number; ended: number };
  beforeEach(() => {
    arena = new Arena();
    policy = policyOf(arena.root);
    workers = { started: 0, ended: 0 };
    client = connect();
  });
  afterEach(async () => {
    client.close();
    await waitFor('the workers to end', () => workers.ended === workers.started);
    arena.dispose();
  });

  function connect(idleMs = 60_000): ServiceClient {
    const counting: SandboxManager = {
      check: () => arena.manager.check(),
      transform: async (given, command) => {
        const launch = await arena.manager.transform(given, command);
        if (!launch.ok) {
          return launch;
        }
        workers.started++;
        const release = async () => launch.value.release().finally(() => workers.ended++);
        return ok({ ...launch.value, release });
      },
    };
    const service = createFileService({
      answers: new AnswerBudget(longestAnswer),
      confine: async () => ok(policy),
      surroundings: () => ({ sandbox: counting, facts: judgeFacts }),
      workerArgv,
      idleMs,
    });
    return new ServiceClient(service);
  }

  const sandbox: SandboxContext = {
    permissions: { type: 'disabled' },
    windowsSandboxLevel: 'disabled',
    workspaceRoots: [],
    useLegacyLandlock: false,
  };
  const inside = (...names: string[]): string => uriOf(join(arena.root, ...names));
  const outside = (...names: string[]): string => uriOf(join(arena.outside, ...names));
  const write = (path: string, from = client): Promise<unknown> =>
    from.call('fs/writeFile', { path, dataBase64: base64('text'), sandbox });

  const walkOf = (path: string) => ({
    path,
    options: { maxDepth: 64, maxDirectories: 10_000, maxEntries: 50_000, followDirectorySymlinks: false },
    sandbox,
  });

  it('do what the policy allows, all in one worker', async () => {
    await Promise.all(Array.from({ length: 30 }, (_, index) => write(inside(`file${index}`))));
    assert.equal(readdirSync(arena.root).filter((name) => name.startsWith('file')).length, 30);
    await client.call('fs/createDirectory', { path: inside('a/b'), sandbox });
    await client.call('fs/copy', {
      sourcePath: inside('file1'),
      destinationPath: inside('a/b/c'),
      recursive: false,
      sandbox,
    });
    const { dataBase64 } = await client.call('fs/readFile', { path: inside('a/b/c'), sandbox });
    assert.equal(dataBase64, base64('text'));
    assert.equal((await client.call('fs/getMetadata', { path: inside('a'), sandbox })).isDirectory, true);
    assert.equal((await client.call('fs/canonicalize', { path: inside('a'), sandbox })).path, inside('a'));
    await client.call('fs/remove', { path: inside('a'), sandbox });
    assert.ok(!existsSync(join(arena.root, 'a')));
    assert.equal(workers.started, 1);
  });

  it('are refused with the code and the words of the system', async () => {
    writeFileSync(join(arena.outside, 'file'), 'text');
    const refusal = await client.refusal('fs/writeFile', { path: outside('file'), dataBase64: '', sandbox });
    assert.equal(refusal.code, internal);
    assert.match(
      refusal.message,
      /^Read-only file system \(os error 30\): .*outside\/file may not be written/,
    );
    assert.equal((await client.refusal('fs/remove', { path: outside('file'), sandbox })).code, internal);
    policy = { ...policy, files: [...policy.files, { path: arena.outside, access: 'none', source: 'user' }] };
    const hidden = await client.refusal('fs/readFile', { path: outside('file'), sandbox });
    assert.equal(hidden.code, invalidRequest);
    assert.match(hidden.message, /^Permission denied \(os error 13\): /);
    // What is refused by name starts nothing.
    assert.equal(workers.started, 0);
    assert.equal((await client.refusal('fs/readFile', { path: inside('gone'), sandbox })).code, notFound);
  });

  it('take existing folders that cannot be written, and make none', async () => {
    const make = { path: inside('.git'), sandbox };
    assert.equal((await client.refusal('fs/createDirectory', make)).code, internal);
    await client.call('fs/createDirectory', { path: outside(), sandbox });
    assert.equal(
      (await client.refusal('fs/createDirectory', { path: outside('x'), sandbox })).code,
      internal,
    );
    // While a worker runs, its mount points are folders, so this one is there, and not for long.
    await client.call('fs/createDirectory', make);
    client.close();
    await waitFor('the worker to end', () => workers.ended === workers.started);
    assert.ok(!existsSync(join(arena.root, '.git')));
  });

  it('work where nothing but the root is shown', async () => {
    policy = { ...policy, files: [{ path: arena.root, access: 'write', source: 'user' }] };
    await write(inside('file'));
    assert.equal(readFileSync(join(arena.root, 'file'), 'utf8'), 'text');
    // What the worker itself needs is not shown to its callers.
    for (const path of ['/home', '/usr/lib', process.execPath].map(uriOf)) {
      const refusal = await client.refusal('fs/walk', walkOf(path));
      assert.equal(refusal.code, invalidRequest, path);
    }
  });

  it('keep files open in the worker', async () => {
    client.close();
    client = connect(50);
    await client.call('fs/open', { handleId: 'w', path: inside('file'), mode: 'replace', sandbox });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await client.call('fs/writeBlock', { handleId: 'w', offset: 2, chunk: base64('x') });
    assert.equal(readFileSync(join(arena.root, 'file'), 'latin1'), '\0\0x');
    await client.call('fs/close', { handleId: 'w' });
    await waitFor('the worker to end', () => workers.ended === 1);
    assert.equal((await client.refusal('fs/readBlock', { handleId: 'w', offset: 0, len: 1 })).code, notFound);
  });

  it('tell from the worker when something comes', async () => {
    const watch = { watchId: 1, missing: [inside('a/b')], sandbox };
    assert.deepEqual(await client.call('fs/watchMissing', watch), { watching: true });
    mkdirSync(join(arena.root, 'a'));
    await waitFor('the notification', () => client.events.length > 0);
    assert.deepEqual(client.events, [{ watchId: 1 }]);
    assert.equal(workers.started, 1);
  });

  it('end the worker when it has nothing to do, and start another one then', async () => {
    client.close();
    client = connect(20);
    await write(inside('file'));
    await waitFor('the worker to end', () => workers.ended === 1);
    await write(inside('file'));
    assert.equal(workers.started, 2);
  });

  it('carry large files', async () => {
    const text = 'x'.repeat(20 * 1024 * 1024);
    await client.call('fs/writeFile', { path: inside('large'), dataBase64: base64(text), sandbox });
    const { dataBase64 } = await client.call('fs/readFile', { path: inside('large'), sandbox });
    assert.equal(Buffer.from(dataBase64, 'base64').toString(), text);
  });

  it('fail when their sandbox does not start', async () => {
    policy = { ...policy, files: [...policy.files, { path: '/proc/sys', access: 'write', source: 'user' }] };
    const refusal = await client.refusal('fs/readFile', { path: inside('file'), sandbox });
    assert.equal(refusal.code, internal);
    assert.match(refusal.message, /^The sandbox of a file call does not start: /);
    assert.ok(!existsSync(join(arena.root, 'file')));
  });

  it('end with the connection, in the middle of a call', async () => {
    await write(inside('file'));
    const calls = Array.from({ length: 20 }, () =>
      client.refusal('fs/walk', walkOf(uriOf('/usr'))).catch(() => undefined),
    );
    client.close();
    await waitFor('the worker to end', () => workers.ended === 1);
    await Promise.all(calls);
  });
});
