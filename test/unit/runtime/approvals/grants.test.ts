import assert from 'node:assert/strict';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLog } from '../../../../src/base/log.ts';
import type { Grant } from '../../../../src/runtime/approvals/grant.ts';
import { GrantFolder } from '../../../../src/runtime/approvals/grantFolder.ts';
import { GrantStore } from '../../../../src/runtime/approvals/grantStore.ts';
import type { TemporaryFolder } from '../../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../../harness/temporaryFolder.ts';
import { waitFor } from '../../../harness/waitFor.ts';

const write: Omit<Grant, 'id' | 'grantedAt'> = {
  root: '/w/app',
  what: { kind: 'path', path: '/data', access: 'write' },
  lasts: 'root',
  because: 'make',
};

describe('grants', () => {
  let folder: TemporaryFolder;
  let stores: GrantStore[];
  beforeEach(async () => {
    folder = await createTemporaryFolder('grants');
    stores = [];
  });
  afterEach(async () => {
    stores.forEach((store) => store.dispose());
    await folder.dispose();
  });
  /** A window's view of the same folder. */
  const open = (): GrantStore => {
    const store = new GrantStore(new GrantFolder(folder.path, silentLog));
    stores.push(store);
    return store;
  };

  it('are kept for a root, and seen and revoked by every window at once', async () => {
    const [one, other] = [open(), open()];
    const grant = await one.add(write);
    assert.deepEqual(other.wideningsOf({ path: '/w/app' }), [write.what]);
    assert.deepEqual(other.wideningsOf({ path: '/w' }), []);
    await other.revoke([grant.id]);
    assert.deepEqual(one.list(), []);
  });

  it('of a session are gone with it, and never on the disk', async () => {
    await open().add({ ...write, lasts: 'session' });
    assert.deepEqual(open().list(), []);
    assert.deepEqual(await readdir(folder.path), []);
  });

  it('make room for another one of the same thing', async () => {
    const store = open();
    await store.add({ ...write, what: { kind: 'path', path: '/data', access: 'read' } });
    await store.add({ ...write, lasts: 'session', until: Date.now() + 60_000 });
    await store.add({ ...write, root: '/w/other' });
    assert.deepEqual(
      store.list({ path: '/w/app' }).map(({ what, lasts }) => [what, lasts]),
      [[write.what, 'session']],
    );
    assert.equal(store.list({ path: '/w/other' }).length, 1);
  });

  it('end by themselves, and say so', async () => {
    const store = open();
    let told: number | undefined;
    store.onDidChange(() => (told = store.list().length));
    await store.add({ ...write, until: Date.now() + 50 });
    await waitFor('the news of the end', () => told === 0);
  });

  it('tell prefixes from widenings', async () => {
    const store = open();
    await store.add({ ...write, what: { kind: 'prefix', words: ['npm', 'test'] } });
    await store.add(write);
    assert.deepEqual(store.prefixesOf({ path: '/w/app' }), [['npm', 'test']]);
    assert.deepEqual(store.wideningsOf({ path: '/w/app' }), [write.what]);
  });

  it('of no known shape open nothing, whatever else is in the folder', async () => {
    const store = open();
    const { id } = await store.add(write);
    const planted = { ...write, id: 'x', grantedAt: 0, what: { kind: 'unsandboxed' } };
    await writeFile(join(folder.path, 'x.json'), JSON.stringify(planted));
    await writeFile(join(folder.path, 'half.json'), '{"id": "ha');
    await writeFile(
      join(folder.path, 'other.json'),
      JSON.stringify({ ...write, id: 'another', grantedAt: 0 }),
    );
    assert.deepEqual(
      open()
        .list()
        .map((grant) => grant.id),
      [id],
    );
    await rm(folder.path, { recursive: true });
    assert.deepEqual(open().list(), []);
  });
});
