import assert from 'node:assert/strict';
import type { Checkpoint, CheckpointFile } from '../../../src/patch/checkpoint/checkpoint.ts';
import { checkpointSummary, fileLetter, shownFiles } from '../../../src/ui/checkpoints/checkpointWords.ts';

const missing = { kind: 'missing' } as const;
const there = { kind: 'file', hash: '0'.repeat(64), size: 1 } as const;
const file = (name: string, more: Partial<CheckpointFile> = {}): CheckpointFile => ({
  path: `/root/src/${name}`,
  name,
  before: there,
  after: there,
  ...more,
});
const checkpoint = (files: CheckpointFile[]): Checkpoint => ({
  version: 1,
  id: '1-00000000',
  createdAt: new Date(0).toISOString(),
  newFolders: [],
  title: 'patch',
  root: '/root',
  cwd: '/root',
  files,
});

describe('the words of checkpoints', () => {
  it('give each file the letter of what the patch did to it', () => {
    assert.equal(fileLetter(file('a')), 'M');
    assert.equal(fileLetter(file('a', { before: missing })), 'A');
    assert.equal(fileLetter(file('a', { after: missing })), 'D');
    assert.equal(fileLetter(file('a', { before: missing, movedFrom: '/root/src/b' })), 'R');
  });

  it('count the two places of a rename as one file', () => {
    const files = [
      file('from', { after: missing }),
      file('to', { before: missing, movedFrom: '/root/src/from' }),
    ];
    assert.deepEqual(
      shownFiles(checkpoint(files)).map(({ name }) => name),
      ['to'],
    );
  });

  it('say how many files there are, and leave out the date of today', () => {
    const made = { ...checkpoint([file('a')]), createdAt: new Date(2026, 5, 7, 8, 9).toISOString() };
    assert.match(checkpointSummary(made, new Date(2026, 5, 7, 23, 0)), /^[^/]*08:09[^/]* · 1 file$/);
    assert.match(checkpointSummary(made, new Date(2026, 5, 8, 1, 0)), /2026.*08:09/);
    assert.match(checkpointSummary(checkpoint([file('a'), file('b')]), new Date()), / · 2 files$/);
  });
});
