import assert from 'node:assert/strict';
import type { Result } from '../../../../src/base/result.ts';
import type { PatchError } from '../../../../src/patch/patchError.ts';
import { carryOver, proposesTheSame } from '../../../../src/patch/review/carryOver.ts';
import { accept, comment, commentOf, mapFile, reject } from '../../../../src/patch/review/review.ts';
import type { Review } from '../../../../src/patch/review/review.ts';
import { editRight } from '../../../../src/patch/review/reviewFile.ts';
import { treeOf } from '../../../harness/memoryFiles.ts';
import { alphabet, patchText, requestFor, reviewOf, right, statuses, threeHunks } from './reviewTools.ts';

const reviewId = 'r1';
const path = '/p/letters.txt';

describe('a review whose files changed', () => {
  it('goes on with the same hunks when the change is elsewhere', async () => {
    const review = await touched();
    const changed = alphabet({ p: 'changed\nby another' });
    const carried = value(await onto(review, changed));
    assert.deepEqual(statuses(carried), ['rejected', 'accepted', 'pending']);
    const expected = changed.replace('m\n', 'M\nM2\n').replace('y\n', '').replace('e\n', 'typed\n');
    assert.equal(right(carried), expected);
    assert.equal(commentOf(carried, { reviewId, file: 0, hunk: 0 }), 'why');
    assert.ok(proposesTheSame(review, carried));
  });

  it('is what it was when nothing changed', async () => {
    const review = await touched();
    const carried = value(await onto(review, alphabet()));
    assert.deepEqual(carried.files[0]?.pieces, review.files[0]?.pieces);
  });

  it('takes over what nobody edited, even where the lines meet', async () => {
    const review = await reviewOf(threeHunks, { [path]: alphabet() });
    const carried = value(await onto(review, alphabet({ o: 'O' })));
    assert.equal(right(carried), alphabet({ b: 'B', m: 'M\nM2', o: 'O' }).replace('y\n', ''));
    assert.deepEqual(statuses(carried), ['pending', 'pending', 'pending']);
  });

  it('says so when an edit of the person meets the change', async () => {
    const carried = await onto(await touched(), alphabet({ e: 'E' }));
    assert.ok(!carried.ok);
    assert.equal(carried.error.kind, 'stale');
    assert.match(carried.error.message, /^\/p\/letters\.txt changed while/);
  });

  it('asks anew when other lines would go', async () => {
    const review = await reviewOf(threeHunks, { [path]: alphabet() });
    // The lines to remove are found with other white space now.
    const carried = value(await onto(review, alphabet({ b: 'b  ' })));
    assert.equal(proposesTheSame(review, carried), false);
  });

  it('asks anew when a move would now replace a file that was not there', async () => {
    const move = patchText('*** Update File: a.txt', '*** Move to: b.txt', '@@', '-a', '+A');
    const review = await reviewOf(move, { '/p/a.txt': 'a\n' });
    const occupied = await reviewOf(move, { '/p/a.txt': 'a\n', '/p/b.txt': 'precious\n' });
    const other = await reviewOf(move, { '/p/a.txt': 'a\n', '/p/b.txt': 'more precious\n' });
    assert.equal(proposesTheSame(review, value(carryOver(review, occupied))), false);
    assert.equal(proposesTheSame(occupied, value(carryOver(occupied, other))), false);
    assert.equal(proposesTheSame(occupied, value(carryOver(occupied, occupied))), true);
  });

  it('asks anew when a write is not allowed any more', async () => {
    const review = await reviewOf(threeHunks, { [path]: alphabet() });
    const refusal = {
      path,
      reason: 'protected',
      clause: 'writableRoots',
      message: 'no',
      hint: 'no',
    } as const;
    assert.equal(proposesTheSame(review, { ...review, refusals: [refusal] }), false);
    assert.equal(proposesTheSame({ ...review, refusals: [refusal] }, review), true);
  });
});

/** First hunk rejected with a reason, second accepted, a line between them edited. */
async function touched(): Promise<Review> {
  let review = await reviewOf(threeHunks, { [path]: alphabet() });
  review = mapFile(review, 0, (file) => editRight(file, (right(review) ?? '').replace('e\n', 'typed\n')));
  review = reject(review, { reviewId, file: 0, hunk: 0 });
  review = comment(review, { reviewId, file: 0, hunk: 0 }, 'why');
  return accept(review, { reviewId, file: 0, hunk: 1 });
}

async function onto(review: Review, content: string): Promise<Result<Review, PatchError>> {
  return carryOver(review, await requestFor(threeHunks, treeOf({ [path]: content })));
}

function value(result: Result<Review, PatchError>): Review {
  if (!result.ok) {
    throw new Error(result.error.message);
  }
  return result.value;
}
