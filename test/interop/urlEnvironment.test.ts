import assert from 'node:assert/strict';
import { chmodSync, linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLog } from '../../src/base/log.ts';
import { applyPlan } from '../../src/patch/apply/applyPlan.ts';
import type { FileSystem, LinkEntry, StagedChange } from '../../src/patch/files/fileSystem.ts';
import { FileError } from '../../src/patch/files/fileSystem.ts';
import type { Plan } from '../../src/patch/plan/plan.ts';
import type { Environment } from '../../src/runtime/environments/environment.ts';
import { urlProvider } from '../../src/runtime/environments/urlEnvironment.ts';
import { createRemoteFileSystem } from '../../src/runtime/patches/remoteFileSystem.ts';
import type { SpawnedServer } from '../harness/spawnedServer.ts';
import { startCodexServer } from '../harness/codexServer.ts';
import { describePatches } from '../harness/patchSuite.ts';
import { describeRemoteReviews } from '../harness/remoteReviewSuite.ts';
import type { TemporaryFolder } from '../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import { createTestRuntime, testPolicy } from '../harness/testRuntime.ts';
import { treeSnapshot } from '../harness/treeSnapshot.ts';
import { Planner, planOf } from '../runtime/patch/plans.ts';

const services = { log: silentLog, bundleFolder: '/no/bundle', version: '0.0.0' };

describeRemoteReviews('on the real codex exec-server', () => startCodexServer(), { isCordon: false });

describe('an environment of type url, on the real codex exec-server', () => {
  let server: SpawnedServer;
  let folder: TemporaryFolder;
  let environment: Environment | undefined;

  before(async () => {
    folder = await createTemporaryFolder('url');
    await writeFile(join(folder.path, 'token'), 'a-token-of-some-length\n', { mode: 0o600 });
    server = await startCodexServer(
      ...['--ws-auth', 'capability-token', '--ws-token-file', join(folder.path, 'token')],
    );
  });
  afterEach(() => environment?.dispose());
  after(async () => {
    await server.dispose();
    await folder.dispose();
  });

  function open(tokenFile?: string): Environment {
    environment = urlProvider.open(
      'codex',
      {
        url: server.url,
        folder: folder.path,
        ...(tokenFile !== undefined && { tokenFile: join(folder.path, tokenFile) }),
      },
      services,
    );
    return environment;
  }

  it('runs a command and knows the server', async () => {
    const { backend } = open('token');
    const started = await backend.start({
      argv: ['/bin/sh', '-c', 'echo here; pwd'],
      cwd: folder.path,
      env: { PATH: '/usr/bin:/bin' },
      policy: { ...testPolicy(folder.path, { mode: 'danger-full-access' }) },
    });
    assert.ok(started.ok, JSON.stringify(started));
    await started.value.closed;
    const { chunks } = await started.value.read({ afterSeq: 0 });
    assert.equal(Buffer.concat(chunks.map(({ chunk }) => chunk)).toString(), `here\n${folder.path}\n`);
    assert.deepEqual(environment?.state, { kind: 'connected', version: '0.171.0' });
  });

  it('says that the token is wrong', async () => {
    await writeFile(join(folder.path, 'wrong'), 'another-token', { mode: 0o600 });
    const connected = await open('wrong').connect();
    assert.ok(!connected.ok);
    assert.equal(connected.error.kind, 'refused');
    assert.match(connected.error.message, /401: invalid websocket bearer token/);
    assert.deepEqual(environment?.state, { kind: 'failed', error: connected.error });
  });

  it('says that a token is missing', async () => {
    const connected = await open().connect();
    assert.ok(!connected.ok);
    assert.equal(connected.error.kind, 'refused');
    assert.match(connected.error.hint, /tokenFile/);
  });

  it('sends no token that others can read', async () => {
    await writeFile(join(folder.path, 'open'), 'a-token-of-some-length');
    await chmod(join(folder.path, 'open'), 0o644);
    const connected = await open('open').connect();
    assert.ok(!connected.ok);
    assert.match(connected.error.message, /can be read or written by others/);
  });

  it('runs confined commands of tools by the policy, and refuses what it has no words for', async () => {
    const there = withFolder(open('token'), folder.path);
    const confined = await createTestRuntime({}, process.env, { environment: there });
    const { text } = await confined.call('exec_command', { cmd: 'touch in && echo $PAGER; touch /usr/out' });
    assert.match(text, /^cat$/m);
    assert.match(text, /\/usr\/out.*Read-only file system/);
    await confined.dispose();
    const limited = await createTestRuntime({ limits: { processes: 9 } }, process.env, {
      environment: there,
    });
    const refused = await limited.call('exec_command', { cmd: 'true' });
    assert.match(refused.text, /not Cordon's own and cannot enforce cordon\.sandbox\.limits/);
    await limited.dispose();
  });

  describePatches(
    'on the real codex exec-server',
    async (user, env, options) => {
      const own = await createTemporaryFolder('there');
      const there = withFolder(open('token'), own.path);
      const runtime = await createTestRuntime(user, env, { ...options, environment: there });
      return {
        ...runtime,
        async dispose() {
          await runtime.dispose();
          there.dispose();
          await own.dispose();
        },
      };
    },
    { seesOutside: false },
  );

  describe('its files', () => {
    let place: TemporaryFolder;
    let files: FileSystem;
    let planner: Planner;
    const at = (name: string): string => join(place.path, name);

    beforeEach(async () => {
      place = await createTemporaryFolder('remote-files');
      const connected = await open('token').connect();
      assert.ok(connected.ok);
      files = createRemoteFileSystem(connected.value, null);
      planner = new Planner(files);
    });
    afterEach(() => place.dispose());

    async function sample(): Promise<Plan> {
      writeFileSync(at('plain'), 'plain');
      writeFileSync(at('program'), 'program');
      chmodSync(at('program'), 0o755);
      writeFileSync(at('shared'), 'shared');
      linkSync(at('shared'), at('twin'));
      writeFileSync(at('doomed'), 'doomed');
      symlinkSync('plain', at('link'));
      mkdirSync(at('src'));
      writeFileSync(at('src/moved'), 'moved');
      chmodSync(at('src/moved'), 0o700);
      writeFileSync(at('src/over'), 'over');
      writeFileSync(at('src/target'), 'target');
      return planOf(
        await planner.update(at('plain'), 'plain 2'),
        await planner.update(at('program'), 'program 2'),
        await planner.update(at('shared'), 'shared 2'),
        planner.create(at('new/deep/file'), 'new'),
        planner.create(at('new/deep/second'), 'second'),
        await planner.delete(at('doomed')),
        { kind: 'delete', path: at('link'), name: 'link', before: { entry: await linkAt(at('link')) } },
        await planner.move(at('src/moved'), at('dst/moved'), 'moved'),
        await planner.move(at('src/over'), at('src/target'), 'over', true),
      );
    }

    async function linkAt(path: string): Promise<LinkEntry> {
      const entry = await files.stat(path);
      assert.ok(entry.kind === 'link');
      return entry;
    }

    it('are told apart', async () => {
      await sample();
      symlinkSync('/no/such', at('dangling'));
      assert.deepEqual(await files.stat(at('nothing')), { kind: 'missing' });
      assert.deepEqual(await files.stat(at('plain/below')), { kind: 'missing' });
      assert.deepEqual(await files.stat(at('src')), { kind: 'folder' });
      assert.deepEqual(await files.stat(at('link')), { kind: 'link', target: at('plain') });
      assert.equal((await files.stat(at('plain'))).kind, 'file');
      assert.deepEqual(await files.stat('/dev/null'), { kind: 'other' });
      await assert.rejects(files.stat(at('dangling')), { code: 'ENOENT' });
      await assert.rejects(files.read(at('nothing')), { code: 'ENOENT' });
      await assert.rejects(files.read(at('src')), FileError);
    });

    it('are changed as a plan says', async () => {
      const applied = await applyPlan(await sample(), files, undefined);
      assert.ok(applied.ok, JSON.stringify(applied));
      assert.equal(readFileSync(at('plain'), 'utf8'), 'plain 2');
      assert.equal(readFileSync(at('twin'), 'utf8'), 'shared 2');
      assert.equal(readFileSync(at('new/deep/second'), 'utf8'), 'second');
      assert.equal(readFileSync(at('src/target'), 'utf8'), 'over');
      assert.equal(readFileSync(at('dst/moved'), 'utf8'), 'moved');
      assert.ok(
        !JSON.stringify(treeSnapshot(place.path, { identities: false })).includes('.cordon-'),
        'nothing stays beside the files',
      );
    });

    it('are what they were when any step fails', async () => {
      const plan = await sample();
      const before = treeSnapshot(place.path, { identities: false });
      for (let failing = 1; ; failing++) {
        const result = await applyPlan(plan, failingAt(files, failing), undefined);
        if (result.ok) {
          assert.ok(failing > 9, `only ${failing} steps`);
          break;
        }
        assert.deepEqual(treeSnapshot(place.path, { identities: false }), before, `step ${failing}`);
      }
    });

    it('are left alone when they changed since', async () => {
      const plan = await sample();
      writeFileSync(at('src/target'), 'changed by somebody');
      const before = treeSnapshot(place.path, { identities: false });
      const result = await applyPlan(plan, files, undefined);
      assert.ok(!result.ok);
      assert.deepEqual(treeSnapshot(place.path, { identities: false }), before);
    });
  });
});

function withFolder(environment: Environment, folder: string): Environment {
  return {
    ...{ name: environment.name, address: environment.address, folder },
    ...{ state: environment.state, onDidChangeState: environment.onDidChangeState },
    backend: environment.backend,
    connect: () => environment.connect(),
    prewarm: () => environment.prewarm(),
    dispose: () => environment.dispose(),
  };
}

/** Fails with the commit of that number. */
function failingAt(files: FileSystem, number: number): FileSystem {
  let commits = 0;
  return {
    ...files,
    async stage(change) {
      const staged: StagedChange = await files.stage(change);
      return {
        ...staged,
        commit: async () => {
          if (++commits === number) {
            throw new FileError('write', 'path' in change ? change.path : '', 'EIO');
          }
          await staged.commit();
        },
      };
    },
  };
}
