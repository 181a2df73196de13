import assert from 'node:assert/strict';
import { hunkAt, hunkLines } from '../../../src/patch/review/hunkLines.ts';
import { accept, mapFile, reject } from '../../../src/patch/review/review.ts';
import type { Review } from '../../../src/patch/review/review.ts';
import { editRight, hunksOf } from '../../../src/patch/review/reviewFile.ts';
import type { ReviewFile } from '../../../src/patch/review/reviewFile.ts';
import { fileWords, hunkSize, hunkText, reviewWords } from '../../../src/ui/review/reviewWords.ts';
import { alphabet, patchText, reviewOf, right, threeHunks } from '../patch/review/reviewTools.ts';

const reviewId = 'r1';

describe('the words of a review', () => {
  it('tell what is left, for a file and for the patch', async () => {
    let review = await begun();
    assert.equal(reviewWords(review, true), '1 file');
    assert.equal(fileWords(first(review)), '3 hunks');
    review = reject(review, { reviewId, file: 0, hunk: 0 });
    assert.equal(fileWords(first(review)), '2 of 3 hunks left');
    review = accept(review, { reviewId, file: 0 });
    assert.equal(fileWords(first(review)), 'accepted');
    assert.equal(reviewWords(review, true), 'decided, not yet applied');
    assert.equal(fileWords(first(reject(review, { reviewId, file: 0 }))), 'rejected');
  });

  it('tell what the person typed, and only that', async () => {
    let review = await begun();
    review = mapFile(review, 0, (file) => editRight(file, (right(review) ?? '').replace('e\n', 'E\n')));
    assert.equal(fileWords(first(review)), '3 hunks · edited');
  });

  it('tell when nobody waits, and when it cannot be applied', async () => {
    const review = await begun();
    const error = { kind: 'stale', message: 'changed' } as const;
    assert.equal(reviewWords(review, false), '1 file · no agent waits');
    assert.equal(reviewWords({ ...review, state: { kind: 'obsolete', error } }, false), 'no longer applies');
    const failed = { ...review, state: { kind: 'waiting', failure: error } } as const;
    assert.equal(reviewWords(failed, true), 'could not be applied');
  });

  it('name what happens to whole files', async () => {
    const text = patchText('*** Add File: new', '+x', '*** Delete File: old');
    const { files } = await reviewOf(text, { '/p/old': 'x\n' });
    assert.deepEqual(files.map(fileWords), ['new', 'deleted']);
  });

  it('show a hunk by its first line that says something', async () => {
    const hunks = hunksOf(first(await begun()));
    assert.deepEqual(hunks.map(hunkText), ['B', 'M', 'y']);
    assert.deepEqual(hunks.map(hunkSize), ['+1 −1', '+2 −1', '−1']);
  });
});

describe('the places of hunks', () => {
  it('are those of the side that is looked at', async () => {
    const file = first(await begun());
    assert.deepEqual(
      hunkLines(file, 'before').map(({ start, end }) => [start, end]),
      [
        [1, 2],
        [12, 13],
        [24, 25],
      ],
    );
    assert.deepEqual(
      hunkLines(file, 'right').map(({ start, end }) => [start, end]),
      [
        [1, 2],
        [12, 14],
        [25, 25],
      ],
    );
  });

  it('include the lines beside what was removed', async () => {
    const file = first(await begun());
    const found = [0, 1, 2, 12, 13, 14, 23, 24, 25].map((line) => hunkAt(file, line, 'right'));
    assert.deepEqual(found, [undefined, 0, undefined, 1, 1, undefined, undefined, 2, 2]);
  });
});

function begun(): Promise<Review> {
  return reviewOf(threeHunks, { '/p/letters.txt': alphabet() });
}

function first(review: Review): ReviewFile {
  return review.files[0] as ReviewFile;
}
