import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { silentLog } from '../../src/base/log.ts';
import { ok } from '../../src/base/result.ts';
import { createAccessUnder } from '../../src/patch/accessUnder.ts';
import { createDiskPatchHost } from '../../src/patch/diskPatchHost.ts';
import { CheckpointStore } from '../../src/patch/checkpoint/checkpointStore.ts';
import { planRestore } from '../../src/patch/checkpoint/restore.ts';
import type { PatchHost } from '../../src/patch/patchHost.ts';
import { planFromContents } from '../../src/patch/plan/planFromContents.ts';
import type { Review } from '../../src/patch/review/review.ts';
import { ReviewStore } from '../../src/patch/review/reviewStore.ts';
import type { Environment } from '../../src/runtime/environments/environment.ts';
import { urlProvider } from '../../src/runtime/environments/urlEnvironment.ts';
import type { Root } from '../../src/runtime/roots.ts';
import type { ToolResult } from '../../src/runtime/tools/tool.ts';
import { placeOfPatch } from '../../src/ui/review/reviewPlaces.ts';
import { Reviews } from '../../src/ui/review/reviews.ts';
import { SavedReviews } from '../../src/ui/review/savedReviews.ts';
import { patch } from './patchSuite.ts';
import type { TemporaryFolder } from './temporaryFolder.ts';
import { createTemporaryFolder } from './temporaryFolder.ts';
import type { SpawnedServer } from './spawnedServer.ts';
import type { TestRuntime } from './testRuntime.ts';
import { createTestRuntime } from './testRuntime.ts';
import { waitFor } from './waitFor.ts';

/** Reviews of patches for files on another machine, which is this one in truth: everything but the editor is real. */
export function describeRemoteReviews(
  where: string,
  startServer: () => Promise<SpawnedServer>,
  // Another server tells no permissions, and makes no links.
  { isCordon = true }: { readonly isCordon?: boolean } = {},
): void {
  describe(`a patch that waits for review ${where}`, () => {
    let runtime: TestRuntime;
    let reviews: Reviews;
    let stored: TemporaryFolder;
    let outside: TemporaryFolder;
    let home: TemporaryFolder;
    let server: SpawnedServer;
    let environment: Environment;
    const there = (name: string): string => join(runtime.root, name);
    const here = (name: string): string => join(runtime.localRoot, name);
    const read = (path: string): string => readFileSync(path, 'utf8');

    beforeEach(async () => {
      stored = await createTemporaryFolder('reviews');
      outside = await createTemporaryFolder('beyond');
      home = await createTemporaryFolder('there');
      server = await startServer();
      environment = urlProvider.open(
        'build',
        { url: server.url, folder: home.path },
        { log: silentLog, bundleFolder: '/no/bundle', version: '0' },
      );
      const accessUnder = createAccessUnder();
      const disk = createDiskPatchHost(accessUnder);
      reviews = new Reviews({
        files: disk.files,
        accessUnder,
        saved: new SavedReviews(new ReviewStore(stored.path, silentLog), silentLog),
        log: silentLog,
        placeOf: (review) =>
          placeOfPatch(review, { list: () => [root()], placeOf: (of) => runtime.runtime.patchPlaceOf(of) }),
        async apply({ plan, policy, site, refusals }) {
          const accepted = refusals.map(({ path }) => path);
          const applied = (await site?.apply({ plan, policy, accepted })) ?? assert.fail('it is not here');
          return applied.ok ? ok({ notes: [] }) : applied;
        },
      });
      const patchHost: PatchHost = { ...disk, review: (request, signal) => reviews.open(request, signal) };
      const user = { files: { [outside.path]: 'read' } };
      runtime = await createTestRuntime(user, process.env, { reviewMode: 'always', patchHost, environment });
      for (const path of [there('a.txt'), here('a.txt')]) {
        writeFileSync(path, 'one\ntwo\n');
      }
    });
    afterEach(async () => {
      await runtime.dispose();
      environment.dispose();
      reviews.dispose();
      await server.dispose();
      await home.dispose();
      await outside.dispose();
      await stored.dispose();
    });

    const root = (): Root => ({ name: 'r', path: runtime.localRoot, environment: 'build' });

    async function propose(
      ...lines: readonly string[]
    ): Promise<{ readonly review: Review; readonly answer: Promise<ToolResult> }> {
      const answer = runtime.call('apply_patch', { input: patch(...lines) });
      const review = await Promise.race([
        waitFor('the review', () => reviews.list()[0]),
        answer.then(({ text }) => assert.fail(text)),
      ]);
      return { review, answer };
    }
    const update = ['*** Update File: a.txt', '@@', '-two', '+2'];

    it('is applied there when it is accepted, and here not', async () => {
      const { review, answer } = await propose(...update, '*** Add File: new/b.txt', '+b');
      assert.equal(review.title, 'build: a.txt, new/b.txt');
      assert.deepEqual(review.machine, { environment: 'build', folder: runtime.localRoot });
      assert.equal(review.files[0]?.change.path, there('a.txt'));
      assert.equal(read(there('a.txt')), 'one\ntwo\n');
      await reviews.accept({ reviewId: review.id });
      assert.match((await answer).text, /^Exit code: 0\n[^]*\nM a\.txt\n/);
      assert.equal(read(there('a.txt')), 'one\n2\n');
      assert.equal(read(there('new/b.txt')), 'b\n');
      assert.equal(read(here('a.txt')), 'one\ntwo\n');
      assert.equal(existsSync(here('new')), false);
    });

    it('is applied in part, and with what was typed', async () => {
      const { review, answer } = await propose(...update, '*** Add File: b.txt', '+b');
      const file = (name: string) => review.files.findIndex(({ change }) => change.name === name);
      reviews.edit({ reviewId: review.id, file: file('a.txt') }, 'one\ntyped\n');
      await reviews.reject({ reviewId: review.id, file: file('b.txt') });
      await reviews.accept({ reviewId: review.id });
      assert.match((await answer).text, /a\.txt: applied with changes[^]*\+typed[^]*b\.txt: rejected/);
      assert.equal(read(there('a.txt')), 'one\ntyped\n');
      assert.equal(existsSync(there('b.txt')), false);
    });

    it('changes nothing when it is rejected', async () => {
      const { review, answer } = await propose(...update);
      await reviews.reject({ reviewId: review.id }, 'later');
      assert.match((await answer).text, /^patch rejected by user\nComment of the person: later/);
      assert.equal(read(there('a.txt')), 'one\ntwo\n');
    });

    it('is asked about again when the file there changed meanwhile', async () => {
      const { review, answer } = await propose('*** Update File: a.txt', '@@', ' one', '-two', '+2');
      writeFileSync(here('a.txt'), 'of no interest\n');
      writeFileSync(there('a.txt'), 'one\ntwo \n');
      await reviews.accept({ reviewId: review.id });
      assert.equal(read(there('a.txt')), 'one\ntwo \n', 'other lines than were looked at');
      await reviews.accept({ reviewId: review.id });
      assert.equal((await answer).isError, false);
      assert.equal(read(there('a.txt')), 'one\n2\n');
    });

    it('goes when it no longer fits', async () => {
      const { review, answer } = await propose(...update);
      writeFileSync(there('a.txt'), 'three\n');
      await reviews.accept({ reviewId: review.id });
      assert.match((await answer).text, /verification failed[^]*changed while the patch waited/);
      assert.equal(reviews.get(review.id)?.state.kind, 'obsolete');
      assert.equal(read(there('a.txt')), 'three\n');
    });

    it('may write outside of the folder what was accepted, and nothing else', async () => {
      const beyond = (name: string): string => join(outside.path, name);
      writeFileSync(beyond('x'), 'one\n');
      const { review, answer } = await propose(
        ...[`*** Update File: ${beyond('x')}`, '@@', '-one', '+1'],
        ...[`*** Add File: ${beyond('new/y')}`, '+y', `*** Add File: ${beyond('z')}`, '+z'],
        ...update,
      );
      assert.deepEqual(
        review.refusals.map(({ path }) => path),
        [beyond('x'), beyond('new/y'), beyond('z')],
      );
      await reviews.reject({ reviewId: review.id, file: 2 });
      await reviews.accept({ reviewId: review.id });
      assert.match((await answer).text, /^Exit code: 0/);
      assert.equal(read(beyond('x')), '1\n');
      assert.equal(read(beyond('new/y')), 'y\n');
      assert.equal(existsSync(beyond('z')), false);
      assert.equal(read(there('a.txt')), 'one\n2\n');
    });

    it('follows no link that has come where something outside of the folder was accepted', async () => {
      mkdirSync(join(outside.path, 'folder/sub'), { recursive: true });
      mkdirSync(join(outside.path, 'other/sub'), { recursive: true });
      const file = join(outside.path, 'folder/sub/x');
      const { review } = await propose(`*** Add File: ${file}`, '+x');
      const { plan, refusals } = review;
      rmSync(join(outside.path, 'folder'), { recursive: true });
      symlinkSync('other', join(outside.path, 'folder'));
      const place = await runtime.runtime.patchPlaceOf(root());
      assert.ok(place.ok && place.value.site !== undefined);
      const accepted = refusals.map(({ path }) => path);
      const applied = await place.value.site.apply({ plan, policy: place.value.policy, accepted });
      assert.ok(!applied.ok);
      assert.deepEqual(readdirSync(join(outside.path, 'other/sub')), []);
    });

    it('can be taken back by a checkpoint, folders included, but for a link that its server cannot make', async () => {
      symlinkSync('a.txt', there('link'));
      chmodSync(there('a.txt'), 0o750);
      const place = await runtime.runtime.patchPlaceOf(root());
      assert.ok(place.ok && place.value.site !== undefined);
      const { policy, site } = place.value;
      const text = patch(
        ...['*** Add File: new/deep/b', '+b', '*** Delete File: link', '*** Delete File: a.txt'],
      );
      const planned = await site.plan({ text, cwd: runtime.root, policy, isWatched: true });
      assert.ok(planned.ok);
      const { plan } = planned.value;
      const paths = plan.changes.map(({ path }) => path);
      const view = await site.look({ paths, policy, withContents: false });
      assert.ok(view.ok);
      const newFolders = view.value.missingFolders;
      assert.deepEqual(newFolders, [there('new/deep'), there('new')]);
      const checkpoints = new CheckpointStore({ folder: join(stored.path, 'checkpoints'), log: silentLog });
      const machine = { environment: 'build', folder: runtime.localRoot };
      const elsewhere = { machine, newFolders };
      await checkpoints.record({ title: 't', root: runtime.root, cwd: runtime.root, plan, elsewhere });
      assert.ok((await site.apply({ plan, policy, accepted: [] })).ok);
      assert.deepEqual(readdirSync(runtime.root), ['new']);

      const [checkpoint] = await checkpoints.list();
      assert.ok(checkpoint?.version === 2);
      assert.deepEqual(checkpoint.machine, machine);
      const now = await site.look({ paths, policy, withContents: true });
      assert.ok(now.ok);
      const content = (hash: string) => checkpoints.content(hash);
      const restore = await planRestore(checkpoint, { files: now.value.files, content });
      assert.ok(restore.ok);
      const { files } = restore.value;
      const back = planFromContents(
        files.map(({ path, name, current, content: after, mode }) => ({
          ...{ path, name, before: current, after, mode },
        })),
      );
      assert.deepEqual(await site.apply({ plan: back, policy, accepted: [] }), ok(undefined));
      const completed = await site.completeRestore({ newFolders, files });
      assert.ok(completed.ok);
      assert.equal(read(there('a.txt')), 'one\ntwo\n');
      assert.equal(existsSync(there('new')), false);
      assert.equal(read(here('a.txt')), 'one\ntwo\n');
      if (isCordon) {
        assert.equal(statSync(there('a.txt')).mode & 0o777, 0o750);
        assert.equal(readlinkSync(there('link')), 'a.txt');
        assert.deepEqual(completed.value, []);
      } else {
        assert.match(completed.value.join(), /^The link link was not restored/);
      }
    });

    it('waits when the connection breaks, and can be rejected without it', async () => {
      const { review, answer } = await propose(...update);
      environment.dispose();
      await reviews.accept({ reviewId: review.id });
      const { text } = await answer;
      assert.match(text, /^apply_patch failed: /);
      assert.equal(reviews.get(review.id)?.state.kind, 'waiting');
      await reviews.reject({ reviewId: review.id });
      assert.equal(reviews.get(review.id), undefined);
      assert.equal(read(there('a.txt')), 'one\ntwo\n');
    });
  });
}
