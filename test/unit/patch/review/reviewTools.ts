import { parsePatch } from '../../../../src/patch/format/parsePatch.ts';
import type { PatchRequest } from '../../../../src/patch/patchHost.ts';
import { planPatch } from '../../../../src/patch/plan/planPatch.ts';
import { createReview } from '../../../../src/patch/review/review.ts';
import type { Review } from '../../../../src/patch/review/review.ts';
import { hunksOf, textRight } from '../../../../src/patch/review/reviewFile.ts';
import { statusOf } from '../../../../src/patch/review/pieces.ts';
import { readOnlyFiles, treeOf } from '../../../harness/memoryFiles.ts';
import type { Tree } from '../../../harness/memoryFiles.ts';
import { policyOf } from '../../../harness/policyOf.ts';

export const policy = policyOf('/p');

/** The body of a patch, between its markers. */
export function patchText(...lines: readonly string[]): string {
  return ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n');
}

export async function requestFor(text: string, tree: Tree): Promise<PatchRequest> {
  const patch = parsePatch(text);
  if (!patch.ok) {
    throw new Error(patch.error.message);
  }
  const planned = await planPatch(patch.value, { files: readOnlyFiles(tree), cwd: '/p' });
  if (!planned.ok) {
    throw new Error(planned.error.message);
  }
  return { title: 'test', text, cwd: '/p', policy, ...planned.value };
}

/** A review of a patch on files in memory. */
export async function reviewOf(
  text: string,
  files: Readonly<Record<string, string | Buffer>>,
): Promise<Review> {
  return createReview(await requestFor(text, treeOf(files)), { id: 'r1', createdAt: 1 });
}

export function right(review: Review, file = 0): string | undefined {
  const item = review.files[file];
  return item && textRight(item);
}

export function statuses(review: Review, file = 0): readonly string[] {
  const item = review.files[file];
  return item === undefined ? [] : hunksOf(item).map(statusOf);
}

/** `a` to `z`, one a line, some of them replaced. */
export function alphabet(replaced: Readonly<Record<string, string>> = {}, end = '\n'): string {
  return [...'abcdefghijklmnopqrstuvwxyz'].map((letter) => `${replaced[letter] ?? letter}${end}`).join('');
}

/** Changes b, m and y of the alphabet, each in a hunk. */
export const threeHunks = patchText(
  '*** Update File: letters.txt',
  '@@',
  ' a',
  '-b',
  '+B',
  ' c',
  '@@',
  ' l',
  '-m',
  '+M',
  '+M2',
  ' n',
  '@@',
  ' x',
  '-y',
  ' z',
);
