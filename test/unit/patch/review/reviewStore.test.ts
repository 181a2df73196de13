import assert from 'node:assert/strict';
import { mkdir, readFile, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLog } from '../../../../src/base/log.ts';
import { accept, comment, mapFile, reject } from '../../../../src/patch/review/review.ts';
import type { Review } from '../../../../src/patch/review/review.ts';
import { editRight } from '../../../../src/patch/review/reviewFile.ts';
import { ReviewStore } from '../../../../src/patch/review/reviewStore.ts';
import { createTemporaryFolder } from '../../../harness/temporaryFolder.ts';
import type { TemporaryFolder } from '../../../harness/temporaryFolder.ts';
import { alphabet, patchText, reviewOf, right, threeHunks } from './reviewTools.ts';

describe('the store of reviews', () => {
  let folder: TemporaryFolder;
  const errors: string[] = [];
  const open = (): ReviewStore =>
    new ReviewStore(folder.path, { ...silentLog, error: (message) => void errors.push(message) });

  beforeEach(async () => {
    errors.length = 0;
    folder = await createTemporaryFolder('reviews');
  });
  afterEach(() => folder.dispose());

  it('gives back everything, in the order in which they came', async () => {
    const store = open();
    const reviews = [await decided(), { ...(await everyKind()), id: 'r0', createdAt: 0 }];
    for (const review of reviews) {
      await store.save(review);
    }
    assert.deepEqual(withoutUndefined(await open().load()), withoutUndefined([...reviews].reverse()));
  });

  it('keeps only the contents that the newest state needs', async () => {
    const store = open();
    const review = await decided();
    await store.save(review);
    const edited = mapFile(review, 0, (file) => editRight(file, 'short\n'));
    // Several at once, as while typing.
    await Promise.all([store.save(review), store.save(edited), store.save(review), store.save(edited)]);
    assert.equal(right((await open().load())[0] as Review), 'short\n');
    assert.equal((await files(join(folder.path, 'r1', 'blobs'))).length, 3);
  });

  it('forgets what was removed, and what was never written to its end', async () => {
    const store = open();
    await store.save(await decided());
    await store.remove('r1');
    for (const name of ['crashed', 'being-written']) {
      await mkdir(join(folder.path, name, 'blobs'), { recursive: true });
    }
    await utimes(join(folder.path, 'crashed'), 0, 0);
    assert.deepEqual(await open().load(), []);
    assert.deepEqual(await readdir(folder.path), ['being-written']);
  });

  it('leaves a damaged review where it is, says so, and loads the others', async () => {
    const store = open();
    await store.save(await decided());
    await store.save({ ...(await decided()), id: 'r2' });
    await store.save({ ...(await decided()), id: 'r3' });
    const record = join(folder.path, 'r1', 'review.json');
    await writeFile(record, (await readFile(record, 'utf8')).replace('"version":1', '"version":9'));
    const [blob] = await files(join(folder.path, 'r3', 'blobs'));
    await writeFile(blob ?? '', 'other content');
    assert.deepEqual(
      (await open().load()).map(({ id }) => id),
      ['r2'],
    );
    assert.equal(errors.length, 2);
    assert.ok(errors.some((message) => message.includes(record)));
    assert.match(await readFile(record, 'utf8'), /"version":9/);
  });

  it('gives each note once, also to a later window', async () => {
    await Promise.all([open().addNote('one')]);
    const store = open();
    await Promise.all([store.addNote('two'), store.addNote('three')]);
    assert.deepEqual(await open().takeNotes(), ['one', 'two', 'three']);
    assert.deepEqual(await open().takeNotes(), []);
  });
});

async function decided(): Promise<Review> {
  let review = await reviewOf(threeHunks, { '/p/letters.txt': alphabet() });
  review = reject(review, { reviewId: 'r1', file: 0, hunk: 0 });
  review = accept(review, { reviewId: 'r1', file: 0, hunk: 1 });
  review = comment(review, { reviewId: 'r1', file: 0, hunk: 0 }, 'no');
  return mapFile(review, 0, (file) => editRight(file, `${right(review) ?? ''}typed\n`));
}

async function everyKind(): Promise<Review> {
  const text = patchText(
    '*** Add File: new.txt',
    '+new',
    '*** Delete File: binary',
    '*** Update File: from.txt',
    '*** Move to: to.txt',
    '@@',
    '-x',
    '+y',
  );
  const review = await reviewOf(text, {
    '/p/binary': Buffer.from([0xff, 0xfe, 0, 1]),
    '/p/from.txt': 'x\n',
    '/p/to.txt': 'replaced\n',
  });
  const refusal = {
    path: '/p/x',
    reason: 'outside',
    clause: 'writableRoots',
    message: 'm',
    hint: 'h',
  } as const;
  return {
    ...review,
    refusals: [refusal],
    state: { kind: 'obsolete', error: { kind: 'stale', message: 'changed', path: '/p/x' } },
  };
}

async function files(path: string): Promise<string[]> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** A field that is undefined and one that is missing are the same on disk. */
function withoutUndefined(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
