import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, readdir, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../../src/base/log.ts';
import { silentLog } from '../../../src/base/log.ts';
import { CheckpointStore, hashOf } from '../../../src/patch/checkpoint/checkpointStore.ts';
import type { CheckpointLimits } from '../../../src/patch/checkpoint/checkpointStore.ts';
import type { Plan } from '../../../src/patch/plan/plan.ts';
import { planFromContents } from '../../../src/patch/plan/planFromContents.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';
import type { TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { planOf } from '../../harness/testPlan.ts';
import { waitFor } from '../../harness/waitFor.ts';

describe('CheckpointStore', () => {
  let folder: TemporaryFolder;
  beforeEach(async () => void (folder = await createTemporaryFolder('checkpoints')));
  afterEach(() => folder.dispose());

  const open = (more: { limits?: Partial<CheckpointLimits>; now?: () => number; log?: Log } = {}) =>
    new CheckpointStore({
      folder: join(folder.path, 'store'),
      log: more.log ?? silentLog,
      ...(more.now === undefined ? {} : { now: more.now }),
      limits: { maxCount: 100, maxAgeMs: Infinity, maxBytes: Infinity, ...more.limits },
    });
  const record = (store: CheckpointStore, plan: Plan, title = 'patch') =>
    store.record({ title, root: '/root', cwd: '/root/cwd', plan });
  const blobs = async (): Promise<readonly string[]> => {
    const names = await readdir(join(folder.path, 'store', 'blobs'), { recursive: true });
    return names.filter((name) => name.includes('/'));
  };
  const records = (): Promise<string[]> => readdir(join(folder.path, 'store', 'records'));
  const age = async (name: string, time: number): Promise<void> =>
    utimes(join(folder.path, 'store', name), new Date(time), new Date(time));

  it('keeps what files were and what they become, for another store to read', async () => {
    const { id } = await record(open(), everyKind);
    const store = open();
    const [checkpoint] = await store.list();
    assert.equal(checkpoint?.id, id);
    assert.equal(checkpoint.title, 'patch');
    assert.equal(checkpoint.cwd, '/root/cwd');
    const missing = { kind: 'missing' };
    const file = (text: string, mode?: number) => ({
      kind: 'file',
      hash: hashOf(Buffer.from(text)),
      size: text.length,
      ...(mode === undefined ? {} : { mode }),
    });
    assert.deepEqual(
      checkpoint.files.map(({ path, before, after, movedFrom }) => ({ path, before, after, movedFrom })),
      [
        { path: '/root/created', before: missing, after: file('new'), movedFrom: undefined },
        {
          path: '/root/updated',
          before: file('old', 0o755),
          after: file('new', 0o755),
          movedFrom: undefined,
        },
        { path: '/root/deleted', before: file('old', 0o600), after: missing, movedFrom: undefined },
        { path: '/root/link', before: { kind: 'link', target: 'x' }, after: missing, movedFrom: undefined },
        { path: '/root/from', before: file('old', 0o644), after: missing, movedFrom: undefined },
        { path: '/root/to', before: file('gone', 0o640), after: file('new', 0o644), movedFrom: '/root/from' },
      ],
    );
    assert.equal((await store.content(hashOf(Buffer.from('gone')))).toString(), 'gone');
  });

  it('knows the folders that the patch has to make', async () => {
    const path = join(folder.path, 'new', 'deep', 'file');
    const plan = planFromContents([{ path, name: 'file', before: undefined, after: Buffer.from('x') }]);
    const { newFolders } = await record(open(), plan);
    assert.deepEqual(newFolders, [join(folder.path, 'new', 'deep'), join(folder.path, 'new')]);
  });

  it('keeps equal contents once, readable for nobody else', async () => {
    const store = open();
    await record(store, everyKind);
    await record(store, everyKind);
    const names = await blobs();
    assert.equal(names.length, 3); // old, new, gone
    const path = join(folder.path, 'store', 'blobs', names[0] ?? '');
    assert.equal((await stat(path)).mode & 0o077, 0);
  });

  it('lists the newest first, also those of one moment', async () => {
    const store = open({ now: () => 1000 });
    for (const title of ['a', 'b', 'c']) {
      await record(store, everyKind, title);
    }
    assert.deepEqual(
      (await store.list()).map(({ title }) => title),
      ['c', 'b', 'a'],
    );
  });

  it('tells when something was added or removed', async () => {
    const store = open();
    let changes = 0;
    store.onDidChange(() => (changes += 1));
    const { id } = await record(store, everyKind);
    await store.remove(id);
    assert.equal(changes, 2);
    assert.deepEqual(await store.list(), []);
  });

  it('forgets the oldest beyond the count, and their contents', async () => {
    const old = open({ now: () => Date.now() - 60 * 60_000 });
    await record(old, contents('first'));
    await age(`blobs/${(await blobs())[0]}`, Date.now() - 60 * 60_000);
    const store = open({ limits: { maxCount: 1 } });
    await record(store, contents('second'));
    assert.equal((await store.list()).length, 1);
    assert.deepEqual(
      (await blobs()).map((name) => name.slice(3)),
      [hashOf(Buffer.from('second'))],
    );
  });

  it('does not take contents away that another editor may be about to name', async () => {
    const store = open({ limits: { maxCount: 1 } });
    await record(store, contents('first'));
    await record(store, contents('second'));
    assert.equal((await blobs()).length, 2);
  });

  it('forgets what is too old', async () => {
    let now = 1_000_000;
    const store = open({ now: () => now, limits: { maxAgeMs: 1000 } });
    await record(store, contents('first'), 'first');
    now += 2000;
    await record(store, contents('second'), 'second');
    assert.deepEqual(
      (await store.list()).map(({ title }) => title),
      ['second'],
    );
  });

  it('forgets the oldest beyond the size, but never the newest', async () => {
    const store = open({ limits: { maxBytes: 2500 } });
    for (const letter of 'abc') {
      await record(store, contents(letter.repeat(1000)), letter);
    }
    assert.deepEqual(
      (await store.list()).map(({ title }) => title),
      ['c', 'b'],
    );
    await record(store, contents('d'.repeat(9000)), 'd');
    assert.deepEqual(
      (await store.list()).map(({ title }) => title),
      ['d'],
    );
  });

  it('takes no half of a record for a checkpoint, wherever it was cut', async () => {
    const { id } = await record(open(), everyKind);
    const [name = ''] = await records();
    const path = join(folder.path, 'store', 'records', name);
    const whole = await readFile(path);
    for (let length = 0; length < whole.length; length += 1) {
      await writeFile(path, whole.subarray(0, length));
      assert.deepEqual(await open().list(), []);
    }
    await writeFile(path, whole);
    assert.equal((await open().list())[0]?.id, id);
  });

  it('leaves out records that are not valid, says so once, and keeps their contents', async () => {
    const warnings: string[] = [];
    const store = open({ log: { ...silentLog, warn: (message) => void warnings.push(message) } });
    await record(store, contents('kept'));
    await age(`blobs/${(await blobs())[0]}`, 0);
    const [name = ''] = await records();
    const path = join(folder.path, 'store', 'records', name);
    const checkpoint = JSON.parse(await readFile(path, 'utf8')) as object;
    await writeFile(path, JSON.stringify({ ...checkpoint, version: 3 }));
    const later = open({ log: { ...silentLog, warn: (message) => void warnings.push(message) } });
    assert.deepEqual(await later.list(), []);
    assert.deepEqual(await later.list(), []);
    assert.equal(warnings.length, 1);
    assert.ok(warnings[0]?.includes(path));
    await record(later, contents('other'));
    assert.equal((await blobs()).length, 2);
  });

  it('refuses a record that goes by the name of another', async () => {
    const store = open();
    await record(store, everyKind);
    const [name = ''] = await records();
    const path = join(folder.path, 'store', 'records', name);
    await writeFile(join(path, '..', '1-00000000.json'), await readFile(path));
    assert.equal((await open().list()).length, 1);
  });

  it('refuses a content that is damaged, and names its file', async () => {
    const store = open();
    await record(store, contents('content'));
    const [name = ''] = await blobs();
    const path = join(folder.path, 'store', 'blobs', name);
    await writeFile(path, 'CONTENT');
    await assert.rejects(store.content(hashOf(Buffer.from('content'))), (error: Error) =>
      error.message.includes(`${path} is damaged`),
    );
  });

  it('writes a content anew that was cut', async () => {
    const store = open();
    await record(store, contents('content'));
    const [name = ''] = await blobs();
    await truncate(join(folder.path, 'store', 'blobs', name), 3);
    await record(store, contents('content'));
    assert.equal((await store.content(hashOf(Buffer.from('content')))).toString(), 'content');
  });

  it('fails when it cannot write, and leaves nothing half', async () => {
    const store = open();
    await mkdir(join(folder.path, 'store'));
    await writeFile(join(folder.path, 'store', 'records'), 'in the way');
    await assert.rejects(record(store, everyKind));
    assert.equal(await readFile(join(folder.path, 'store', 'records'), 'utf8'), 'in the way');
  });

  it('has only whole checkpoints after the process was killed at any moment', async () => {
    const place = join(folder.path, 'store');
    const program = join(import.meta.dirname, '..', '..', 'fixtures', 'recordCheckpoints.ts');
    let seen = 0;
    for (let round = 0; round < 8; round += 1) {
      const child = spawn(process.execPath, [program, place], { stdio: 'ignore' });
      const ended = once(child, 'exit');
      await waitFor('one more checkpoint', async () => (await open().list()).length > seen);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
      child.kill('SIGKILL');
      await ended;
      const store = open();
      const checkpoints = await store.list();
      assert.ok(checkpoints.length > seen);
      seen = checkpoints.length;
      for (const { files } of checkpoints) {
        for (const { after } of files) {
          assert.ok(after.kind === 'file' && (await store.content(after.hash)).length === after.size);
        }
      }
    }
    await record(open(), everyKind, 'after all');
    assert.equal((await open().list())[0]?.title, 'after all');
  });
});

function contents(text: string): Plan {
  return planFromContents([
    { path: '/root/file', name: 'file', before: undefined, after: Buffer.from(text) },
  ]);
}

const before = (text: string, mode: number) => ({
  entry: { kind: 'file', mode, size: text.length, version: '1' } as const,
  bytes: Buffer.from(text),
});

const everyKind = planOf([
  { kind: 'create', path: '/root/created', name: 'created', after: Buffer.from('new') },
  {
    kind: 'update',
    path: '/root/updated',
    name: 'updated',
    before: before('old', 0o755),
    after: Buffer.from('new'),
  },
  { kind: 'delete', path: '/root/deleted', name: 'deleted', before: before('old', 0o600) },
  { kind: 'delete', path: '/root/link', name: 'link', before: { entry: { kind: 'link', target: 'x' } } },
  {
    kind: 'move',
    path: '/root/from',
    name: 'from',
    before: before('old', 0o644),
    sourceEntry: before('old', 0o644).entry,
    toPath: '/root/to',
    toName: 'to',
    replaced: before('gone', 0o640),
    after: Buffer.from('new'),
  },
]);
