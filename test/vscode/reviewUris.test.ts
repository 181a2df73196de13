import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { PatchMachine } from '../../src/patch/patchSite.ts';
import { createReview } from '../../src/patch/review/review.ts';
import type { Review } from '../../src/patch/review/review.ts';
import type { ReviewFile } from '../../src/patch/review/reviewFile.ts';
import type { Reviews } from '../../src/ui/review/reviews.ts';
import { fileUriOf, locate, uriOf } from '../../src/ui/review/reviewUris.ts';
import { policyOf } from '../harness/policyOf.ts';

describe('the documents of reviews of files with the same path', () => {
  const local = reviewOf('1');
  const remote = reviewOf('2', { environment: 'Build Farm:2', folder: '/p' });
  const all = new Map([local, remote].map((review) => [review.id, review]));
  const reviews = { get: (id: string) => all.get(id) } as unknown as Reviews;

  for (const [what, review, authority] of [
    ['of this machine', local, ''],
    ['of another', remote, 'build-farm-2'],
  ] as const) {
    it(`are found, as the editor spells them, and name the machine: ${what}`, () => {
      const uri = uriOf(review, fileOf(review), 'right');
      assert.equal(uri.authority, authority);
      const found = locate(reviews, vscode.Uri.parse(uri.toString(), true));
      assert.equal(found?.review, review);
      assert.equal(found.side, 'right');
    });
  }

  it('are of nobody when number and machine do not belong together', () => {
    const query = (review: Review): string => uriOf(review, fileOf(review), 'right').query;
    const swapped = [
      uriOf(local, fileOf(local), 'right').with({ query: query(remote) }),
      uriOf(remote, fileOf(remote), 'right').with({ query: query(local) }),
    ];
    assert.deepEqual(
      swapped.map((uri) => locate(reviews, uri)),
      [undefined, undefined],
    );
  });

  it('stand for the file on the disk on this machine only', () => {
    assert.equal(fileUriOf(local, fileOf(local)).toString(), 'file:///p/a.txt');
    assert.equal(fileUriOf(remote, fileOf(remote)).scheme, 'cordon-review');
  });
});

function reviewOf(id: string, machine?: PatchMachine): Review {
  const change = { kind: 'create', path: '/p/a.txt', name: 'a.txt', after: Buffer.from('x\n') } as const;
  const plan = { changes: [change], summary: { added: [], modified: [], deleted: [] }, notes: [] };
  const request = { title: 'a.txt', text: '', cwd: '/p', policy: policyOf('/p'), plan, refusals: [] };
  return { ...createReview(request, { id, createdAt: 1 }), machine };
}

function fileOf({ files: [file] }: Review): ReviewFile {
  return file ?? assert.fail('no file');
}
