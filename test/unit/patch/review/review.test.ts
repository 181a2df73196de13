import assert from 'node:assert/strict';
import { concludeReview } from '../../../../src/patch/review/concludeReview.ts';
import type { Conclusion } from '../../../../src/patch/review/concludeReview.ts';
import { accept, comment, isDecided, mapFile, reject } from '../../../../src/patch/review/review.ts';
import type { Review } from '../../../../src/patch/review/review.ts';
import { decisionOf, editRight, textProposed, textRight } from '../../../../src/patch/review/reviewFile.ts';
import { treeAfter, treeOf } from '../../../harness/memoryFiles.ts';
import { Random } from '../../../harness/random.ts';
import { alphabet, patchText, reviewOf, right, statuses, threeHunks } from './reviewTools.ts';

const reviewId = 'r1';
const letters = { '/p/letters.txt': alphabet() };
const proposed = alphabet({ b: 'B', m: 'M\nM2', y: '\0' }).replace('\0\n', '');

describe('a review of a patch', () => {
  it('begins as proposed, with every hunk pending', async () => {
    const review = await reviewOf(threeHunks, letters);
    assert.equal(right(review), proposed);
    assert.deepEqual(statuses(review), ['pending', 'pending', 'pending']);
    assert.equal(isDecided(review), false);
  });

  it('takes a rejected hunk back and keeps what was typed elsewhere', async () => {
    let review = await reviewOf(threeHunks, letters);
    review = edit(review, proposed.replace('d\n', 'typed\n'));
    review = reject(review, { reviewId, file: 0, hunk: 1 });
    assert.equal(right(review), proposed.replace('d\n', 'typed\n').replace('M\nM2\n', 'm\n'));
    assert.deepEqual(statuses(review), ['pending', 'rejected', 'pending']);
  });

  it('restores a rejected hunk when it is accepted after all', async () => {
    let review = await reviewOf(threeHunks, letters);
    review = reject(review, { reviewId, file: 0, hunk: 1 });
    review = accept(review, { reviewId, file: 0, hunk: 1 });
    assert.equal(right(review), proposed);
    assert.deepEqual(statuses(review), ['pending', 'accepted', 'pending']);
  });

  it('knows a hunk that was reverted, edited and put back in the editor', async () => {
    let review = await reviewOf(threeHunks, letters);
    review = edit(review, proposed.replace('x\nz\n', 'x\ny\nz\n'));
    assert.deepEqual(statuses(review), ['pending', 'pending', 'rejected']);
    review = edit(review, (right(review) ?? '').replace('M2\n', 'other\n'));
    assert.deepEqual(statuses(review), ['pending', 'changed', 'rejected']);
    review = edit(review, proposed);
    assert.deepEqual(statuses(review), ['pending', 'pending', 'pending']);
  });

  it('leaves a hunk alone when lines are typed beside it', async () => {
    const review = edit(await reviewOf(threeHunks, letters), proposed.replace('M2\n', 'M2\nbelow\n'));
    assert.deepEqual(statuses(review), ['pending', 'pending', 'pending']);
    assert.equal(outcome(acceptAll(review)).files[0]?.decision, 'changed');
  });

  it('tells repeated lines apart by what was decided', async () => {
    const text = patchText('*** Update File: same.txt', '@@', '+same', ' same', ' same', ' end');
    let review = await reviewOf(text, { '/p/same.txt': 'same\nsame\nend\n' });
    review = reject(review, { reviewId, file: 0, hunk: 0 });
    assert.equal(right(review), 'same\nsame\nend\n');
    assert.deepEqual(statuses(review), ['rejected']);
    review = accept(review, { reviewId, file: 0, hunk: 0 });
    assert.equal(right(review), 'same\nsame\nsame\nend\n');
    // The same, from the text alone.
    assert.deepEqual(statuses(edit(review, 'same\nsame\nend\n')), ['rejected']);
  });

  it('accepts the rest and keeps what was rejected', async () => {
    let review = await reviewOf(threeHunks, letters);
    review = acceptAll(reject(review, { reviewId, file: 0, hunk: 0 }));
    assert.deepEqual(statuses(review), ['rejected', 'accepted', 'accepted']);
    assert.ok(isDecided(review));
    const { plan, files } = outcome(review);
    const after = treeAfter(treeOf(letters), plan);
    assert.deepEqual(after, treeOf({ '/p/letters.txt': proposed.replace('B\n', 'b\n') }));
    assert.equal(files[0]?.decision, 'changed');
    assert.match(files[0]?.diff ?? '', /^-B\n\+b$/m);
  });

  it('rejects the rest and keeps what was accepted', async () => {
    let review = await reviewOf(threeHunks, letters);
    review = reject(accept(review, { reviewId, file: 0, hunk: 0 }), { reviewId });
    assert.deepEqual(statuses(review), ['accepted', 'rejected', 'rejected']);
    assert.equal(right(review), alphabet({ b: 'B' }));
  });

  it('decides a file as a whole, both ways', async () => {
    let review = await reviewOf(threeHunks, letters);
    review = reject(edit(review, proposed.replace('d\n', 'typed\n')), { reviewId, file: 0 });
    assert.equal(right(review), alphabet());
    assert.equal(decisionOf(review.files[0] as never), 'rejected');
    assert.deepEqual(outcome(review).plan.changes, []);
    review = accept(review, { reviewId, file: 0 });
    assert.equal(right(review), proposed);
    assert.ok(isDecided(review));
    assert.equal(outcome(review).files[0]?.decision, 'accepted');
  });

  it('applies exactly the planned bytes of what nobody edited', async () => {
    const review = acceptAll(await reviewOf(threeHunks, letters));
    assert.equal(outcome(review).plan, review.plan);
  });

  it('reviews new, deleted, moved and binary files as a whole', async () => {
    const text = patchText(
      '*** Add File: new.txt',
      '+new',
      '*** Delete File: old.txt',
      '*** Delete File: binary',
      '*** Update File: here.txt',
      '*** Move to: there.txt',
      '@@',
      '-here',
      '+there',
    );
    let review = await reviewOf(text, {
      '/p/old.txt': 'old\n',
      '/p/binary': Buffer.from([0xff, 0xfe, 0, 1]),
      '/p/here.txt': 'here\n',
    });
    const byName = (name: string): number => review.files.findIndex((file) => file.change.name === name);
    assert.ok(review.files.every((_, index) => statuses(review, index).length === 0));
    review = reject(review, { reviewId, file: byName('old.txt') });
    review = reject(review, { reviewId, file: byName('binary') });
    review = mapFile(review, byName('new.txt'), (file) => editRight(file, 'newer\n'));
    review = acceptAll(review);
    const { plan, files } = outcome(review);
    const tree = treeAfter(treeOf({ '/p/old.txt': 'old\n', '/p/here.txt': 'here\n' }), plan);
    const expected = { '/p/old.txt': 'old\n', '/p/new.txt': 'newer\n', '/p/there.txt': 'there\n' };
    assert.deepEqual(tree, treeOf(expected));
    assert.deepEqual(files.map(({ name, letter, decision }) => [name, letter, decision]).sort(), [
      ['binary', 'D', 'rejected'],
      ['new.txt', 'A', 'changed'],
      ['old.txt', 'D', 'rejected'],
      ['there.txt', 'M', 'accepted'],
    ]);
  });

  it('gives comments to the model, and takes them back', async () => {
    let review = await reviewOf(threeHunks, letters);
    review = comment(review, { reviewId }, ' all in all ');
    review = comment(review, { reviewId, file: 0 }, 'the file');
    review = comment(review, { reviewId, file: 0, hunk: 1 }, 'the hunk');
    review = comment(review, { reviewId, file: 0, hunk: 2 }, 'gone');
    review = comment(review, { reviewId, file: 0, hunk: 2 }, ' ');
    assert.equal(review.comment, 'all in all');
    assert.equal(outcome(acceptAll(review)).files[0]?.comment, 'the file\nat "M": the hunk');
  });

  for (const [name, encode] of [
    ['CRLF', (text: string) => Buffer.from(text.replaceAll('\n', '\r\n'))],
    ['a byte order mark', (text: string) => Buffer.from(`\ufeff${text}`)],
    ['mixed line ends', (text: string) => Buffer.from(text.replaceAll('f\n', 'f\r\n').replace('g\n', 'g\r'))],
    ['bytes that are not UTF-8', (text: string) => Buffer.from(text.replaceAll('e', 'é'), 'latin1')],
    ['no final line end', (text: string) => Buffer.from(text.slice(0, -1))],
  ] as const) {
    it(`keeps ${name} when a hunk is rejected and another line edited`, async () => {
      const before = encode(alphabet());
      let review = await reviewOf(threeHunks, { '/p/letters.txt': before });
      review = reject(review, { reviewId, file: 0, hunk: 0 });
      review = reject(review, { reviewId, file: 0, hunk: 1 });
      review = reject(review, { reviewId, file: 0, hunk: 2 });
      const shown = right(review) ?? '';
      assert.ok(isDecided(review));
      assert.deepEqual(outcome(review).plan.changes, []);
      // As an editor gives it back: with the line ends that are most frequent.
      const end = shown.includes('a\r\n') ? '\r\n' : '\n';
      review = edit(review, shown.replaceAll(/\r\n|\r|\n/g, end).replace('k', 'kk'));
      const after = outcome(acceptAll(review)).plan.changes[0];
      assert.deepEqual(after?.kind === 'update' && after.after, encode(alphabet({ k: 'kk' })));
    });
  }

  it('names the file whose encoding cannot hold what was typed', async () => {
    const before = Buffer.from(alphabet().replace('e', 'é'), 'latin1');
    const review = edit(await reviewOf(threeHunks, { '/p/letters.txt': before }), alphabet({ k: '→' }));
    const conclusion = concludeReview(acceptAll(review));
    assert.ok(!conclusion.ok);
    assert.equal(conclusion.error.kind, 'encoding');
    assert.match(conclusion.error.message, /^\/p\/letters\.txt was not written/);
  });
});

describe('decisions on random reviews', () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    it(`accepting all gives the proposal, rejecting all nothing, in any order (seed ${seed})`, async () => {
      const random = new Random(seed);
      const before = randomLines(random);
      const after = change(before, random);
      const text = patchText(
        '*** Update File: f.txt',
        '@@',
        ...before.map((line) => `-${line}`),
        ...after.map((line) => `+${line}`),
      );
      const joined = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
      if (joined(before) === joined(after)) {
        return;
      }
      const review = await reviewOf(text, { '/p/f.txt': joined(before) });
      const count = statuses(review).length;
      assert.ok(count > 0);
      const order = shuffle([...Array(count).keys()], random);
      const all = (decide: typeof accept): Review =>
        order.reduce((item, hunk) => decide(item, { reviewId, file: 0, hunk }), review);
      assert.equal(right(all(accept)), joined(after));
      assert.equal(right(all(reject)), joined(before));

      // Mixed: the order does not matter, and the text alone tells the same.
      const decisions = order.map((hunk) => ({ hunk, decide: random.chance(0.5) ? accept : reject }));
      const run = (list: typeof decisions): Review =>
        list.reduce((item, { hunk, decide }) => decide(item, { reviewId, file: 0, hunk }), review);
      const mixed = run(decisions);
      assert.equal(right(run(shuffle(decisions, random))), right(mixed));
      assert.ok(isDecided(mixed));
      const typed = edit(review, right(mixed) ?? '');
      assert.equal(right(typed), right(mixed));
      const content = textRight(mixed.files[0] as never);
      assert.equal(outcome(mixed).files[0]?.decision, decisionWord(mixed, content, joined(before)));
    });
  }
});

function decisionWord(review: Review, content: string | undefined, before: string): string {
  return content === before
    ? 'rejected'
    : content === textProposed(review.files[0] as never)
      ? 'accepted'
      : 'changed';
}

function randomLines(random: Random): string[] {
  return Array.from({ length: random.integer(1, 30) }, () => random.pick(['a', 'b', 'c', '', '}']));
}

function change(lines: readonly string[], random: Random): string[] {
  return lines.flatMap((line) =>
    random.chance(0.7) ? [line] : random.chance(0.5) ? [] : [random.pick(['a', 'x', '}']), line],
  );
}

function shuffle<T>(items: readonly T[], random: Random): T[] {
  const rest = [...items];
  return items.map(() => rest.splice(random.integer(0, rest.length - 1), 1)[0] as T);
}

function edit(review: Review, text: string): Review {
  return mapFile(review, 0, (file) => editRight(file, text));
}

function acceptAll(review: Review): Review {
  return accept(review, { reviewId });
}

function outcome(review: Review): Conclusion {
  const conclusion = concludeReview(review);
  if (!conclusion.ok) {
    throw new Error(conclusion.error.message);
  }
  return conclusion.value;
}
