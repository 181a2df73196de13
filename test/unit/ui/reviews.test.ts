import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { silentLog } from '../../../src/base/log.ts';
import type { Result } from '../../../src/base/result.ts';
import { fail, ok } from '../../../src/base/result.ts';
import type { PatchError } from '../../../src/patch/patchError.ts';
import type { AppliedPatch, PatchRequest, ReviewOutcome } from '../../../src/patch/patchHost.ts';
import type { PatchSite } from '../../../src/patch/patchSite.ts';
import type { Review } from '../../../src/patch/review/review.ts';
import { ReviewStore } from '../../../src/patch/review/reviewStore.ts';
import { Reviews } from '../../../src/ui/review/reviews.ts';
import type { ReviewNotice } from '../../../src/ui/review/reviews.ts';
import { SavedReviews } from '../../../src/ui/review/savedReviews.ts';
import type { WriteRefusal } from '../../../src/sandbox/writeAccess.ts';
import { readOnlyFiles, treeAfter } from '../../harness/memoryFiles.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';
import type { TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { waitFor } from '../../harness/waitFor.ts';
import { alphabet, policy, requestFor, right, statuses, threeHunks } from '../patch/review/reviewTools.ts';

const path = '/p/letters.txt';
const proposed = alphabet({ b: 'B', m: 'M\nM2' }).replace('y\n', '');

const notOpen: PatchError = { kind: 'access', message: '/p is not open' };

describe('Reviews', () => {
  let folder: TemporaryFolder;
  let tree: Map<string, Buffer>;
  let policyNow = policy;
  let isOpen: boolean;
  let failure: PatchError | undefined;
  let refusals: readonly WriteRefusal[];
  let site: PatchSite | undefined;
  let applied: PatchRequest[];
  let notices: ReviewNotice[];

  beforeEach(async () => {
    folder = await createTemporaryFolder('reviews');
    tree = new Map([[path, Buffer.from(alphabet())]]);
    isOpen = true;
    policyNow = policy;
    failure = undefined;
    refusals = [];
    site = undefined;
    applied = [];
    notices = [];
  });
  afterEach(() => folder.dispose());

  it('applies what was accepted and tells the call what was not, and why', async () => {
    const { reviews, review, outcome } = await opened();
    await reviews.reject({ reviewId: review.id, file: 0, hunk: 0 });
    reviews.comment({ reviewId: review.id, file: 0, hunk: 0 }, 'keep it small');
    await reviews.accept({ reviewId: review.id });
    assert.equal(content(), proposed.replace('B\n', 'b\n'));
    const result = await outcome;
    assert.equal(result.kind, 'decided');
    const [file] = result.kind === 'decided' ? result.files : [];
    assert.equal(file?.decision, 'changed');
    assert.equal(file.comment, 'at "B": keep it small');
    assert.match(file.diff ?? '', /^-B\n\+b$/m);
    assert.deepEqual(reviews.list(), []);
    assert.deepEqual(await another().then((other) => other.list()), []);
  });

  it('applies once nothing waits any more, and not before', async () => {
    const { reviews, review, outcome } = await opened();
    for (const hunk of [2, 0, 1]) {
      assert.equal(applied.length, 0);
      await reviews.accept({ reviewId: review.id, file: 0, hunk });
    }
    assert.equal(applied.length, 1);
    assert.equal((await outcome).kind, 'decided');
  });

  it('applies nothing when everything is rejected', async () => {
    const { reviews, review, outcome } = await opened();
    await reviews.reject({ reviewId: review.id }, 'not now');
    const result = await outcome;
    assert.equal(result.kind === 'decided' && result.comment, 'not now');
    assert.equal(result.kind === 'decided' && result.files[0]?.decision, 'rejected');
    assert.equal(applied.length, 0);
  });

  it('does not decide by typing alone', async () => {
    const { reviews, review } = await opened();
    reviews.edit({ reviewId: review.id, file: 0 }, alphabet());
    assert.deepEqual(statuses(current(reviews)), ['rejected', 'rejected', 'rejected']);
    assert.equal(reviews.list().length, 1);
    await reviews.accept({ reviewId: review.id });
    assert.equal(applied.length, 0);
    assert.equal(reviews.list().length, 0);
  });

  it('goes on without a call that gave up, and tells the next one', async () => {
    const controller = new AbortController();
    const { reviews, review, outcome } = await opened(controller.signal);
    assert.equal(reviews.hasCaller(review.id), true);
    controller.abort();
    assert.deepEqual(await outcome, { kind: 'abandoned' });
    assert.equal(reviews.hasCaller(review.id), false);
    await reviews.accept({ reviewId: review.id });
    assert.equal(content(), proposed);
    assert.deepEqual(await reviews.takeNotes(), [
      'Since the last call, the patch "test" that waited for its review was decided: applied letters.txt.',
    ]);
    assert.deepEqual(await reviews.takeNotes(), []);
  });

  it('survives a reload with what was decided and typed', async () => {
    const { reviews, review, outcome } = await opened();
    await reviews.reject({ reviewId: review.id, file: 0, hunk: 0 });
    reviews.edit({ reviewId: review.id, file: 0 }, (right(current(reviews)) ?? '').replace('e\n', 'typed\n'));
    const later = await waitFor('the stored text', async () => {
      const other = await another();
      return right(current(other))?.includes('typed') === true && other;
    });
    reviews.dispose();
    assert.deepEqual(await outcome, { kind: 'abandoned' });
    assert.deepEqual(statuses(current(later)), ['rejected', 'pending', 'pending']);
    await later.accept({ reviewId: review.id });
    assert.equal(content(), proposed.replace('B\n', 'b\n').replace('e\n', 'typed\n'));
    assert.match((await later.takeNotes())[0] ?? '', /applied with changes by the person letters\.txt/);
  });

  it('waits for its folder to be open again', async () => {
    const { review } = await opened();
    isOpen = false;
    const later = await another();
    await later.accept({ reviewId: review.id });
    assert.equal(applied.length, 0);
    const { state } = current(later);
    assert.match((state.kind === 'waiting' && state.failure?.message) || '', /\/p is not open/);
    assert.equal(notices[0]?.kind, 'failed');
    isOpen = true;
    await later.accept({ reviewId: review.id });
    assert.equal(applied.length, 1);
  });

  it('carries a decision out on the files of now when the same lines come and go', async () => {
    const { reviews, review } = await opened();
    tree.set(path, Buffer.from(alphabet({ p: 'changed' })));
    await reviews.accept({ reviewId: review.id });
    assert.equal(content(), proposed.replace('p\n', 'changed\n'));
    assert.deepEqual(notices, []);
  });

  it('asks again when it would now be something else', async () => {
    const { reviews, review } = await opened();
    tree.set(path, Buffer.from(alphabet({ b: 'b  ' })));
    await reviews.accept({ reviewId: review.id });
    assert.equal(applied.length, 0);
    assert.deepEqual(
      notices.map(({ kind }) => kind),
      ['revised'],
    );
    await reviews.accept({ reviewId: review.id });
    assert.equal(content(), proposed);
  });

  it('asks again when a write is not allowed any more, and then allows just that one', async () => {
    const { reviews, review } = await opened();
    refusals = [{ path, reason: 'protected', clause: 'writableRoots', message: 'm', hint: 'h' }];
    await reviews.accept({ reviewId: review.id });
    assert.equal(applied.length, 0);
    await reviews.accept({ reviewId: review.id });
    assert.deepEqual(applied[0]?.refusals, refusals);
  });

  it('is decided under the policy of that moment', async () => {
    const { reviews, review } = await opened();
    policyNow = { ...policy, mode: 'read-only' };
    await reviews.accept({ reviewId: review.id });
    assert.equal(applied[0]?.policy.mode, 'read-only');
  });

  it('says why it no longer applies, and still shows what was proposed', async () => {
    const { reviews, review, outcome } = await opened();
    tree.set(path, Buffer.from('all new\n'));
    await reviews.refresh(new Set(['/elsewhere']));
    assert.equal(current(reviews).state.kind, 'waiting');
    await reviews.refresh(new Set([path]));
    const result = await outcome;
    assert.equal(result.kind === 'obsolete' && result.error.kind, 'match.lines_not_found');
    assert.equal(right(current(reviews)), proposed);
    await reviews.accept({ reviewId: review.id });
    assert.equal(applied.length, 0);
    await waitFor('the stored state', async () => current(await another()).state.kind === 'obsolete');
    await reviews.reject({ reviewId: review.id });
    assert.deepEqual(reviews.list(), []);
  });

  it('stays when applying fails, and can be accepted again', async () => {
    const { reviews, review, outcome } = await opened();
    failure = { kind: 'io.write', message: 'No space left on device' };
    await reviews.accept({ reviewId: review.id });
    assert.deepEqual(await outcome, { kind: 'failed', error: failure });
    assert.deepEqual(current(reviews).state, { kind: 'waiting', failure });
    failure = undefined;
    await reviews.accept({ reviewId: review.id });
    assert.equal(content(), proposed);
    assert.equal((await reviews.takeNotes()).length, 1);
  });

  describe('of a patch for another machine', () => {
    let problem: PatchError | undefined;
    beforeEach(() => {
      problem = undefined;
      site = {
        environment: 'build',
        folder: '/here',
        plan: async ({ text }) => {
          const { plan } = await requestFor(text, tree);
          return problem === undefined ? ok({ plan, refusals }) : fail(problem);
        },
        apply: () => assert.fail('who builds the reviews applies'),
        look: () => assert.fail('that is for checkpoints'),
        completeRestore: () => assert.fail('that is for checkpoints'),
      };
    });

    it('is planned anew there, not here, and stored as what no older build takes for a local one', async () => {
      const { reviews, review } = await opened();
      assert.deepEqual(review.machine, { environment: 'build', folder: '/here' });
      const stored = readFileSync(join(folder.path, review.id, 'review.json'), 'utf8');
      assert.equal((JSON.parse(stored) as { version: number }).version, 2);
      assert.deepEqual(current(await another()).machine, review.machine);
      await reviews.refresh(new Set([path]));
      assert.equal(current(reviews), review, 'a file of the same name changed here');
      await reviews.accept({ reviewId: review.id });
      assert.equal(applied[0]?.site, site);
    });

    it('keeps what was decided when that machine does not answer, and says so', async () => {
      const { reviews, review, outcome } = await opened();
      await reviews.reject({ reviewId: review.id, file: 0, hunk: 0 });
      problem = { kind: 'machine', message: 'the connection to build broke' };
      await reviews.accept({ reviewId: review.id });
      assert.deepEqual(await outcome, { kind: 'failed', error: problem });
      assert.deepEqual(current(reviews).state, { kind: 'waiting', failure: problem });
      assert.equal(notices[0]?.kind, 'failed');
      problem = undefined;
      await reviews.accept({ reviewId: review.id });
      assert.equal(content(), proposed.replace('B\n', 'b\n'));
    });

    it('is rejected without it', async () => {
      const { reviews, review, outcome } = await opened();
      isOpen = false;
      await reviews.reject({ reviewId: review.id }, 'no');
      const result = await outcome;
      assert.equal(result.kind === 'decided' && result.comment, 'no');
      assert.deepEqual(reviews.list(), []);
    });
  });

  async function another(): Promise<Reviews> {
    const reviews = new Reviews({
      files: readOnlyFiles(tree),
      accessUnder: () => (at) => refusals.find((refusal) => refusal.path === at),
      placeOf: async () => (isOpen ? ok({ policy: policyNow, site }) : fail(notOpen)),
      saved: new SavedReviews(new ReviewStore(folder.path, silentLog), silentLog),
      log: silentLog,
      async apply(request): Promise<Result<AppliedPatch, PatchError>> {
        if (failure !== undefined) {
          return fail(failure);
        }
        applied.push(request);
        tree = treeAfter(tree, request.plan) as Map<string, Buffer>;
        return ok({ notes: [] });
      },
    });
    reviews.onDidNotice((notice) => void notices.push(notice));
    await reviews.ready;
    return reviews;
  }

  async function opened(signal = new AbortController().signal): Promise<{
    readonly reviews: Reviews;
    readonly review: Review;
    readonly outcome: Promise<ReviewOutcome>;
  }> {
    const reviews = await another();
    const outcome = reviews.open({ ...(await requestFor(threeHunks, tree)), site }, signal);
    await waitFor('the review', () => reviews.list().length > 0);
    await waitFor('the stored review', async () => (await another()).list().length > 0);
    return { reviews, review: current(reviews), outcome };
  }

  function current(reviews: Reviews): Review {
    return reviews.list()[0] as Review;
  }

  function content(): string {
    return String(tree.get(path));
  }
});
