import assert from 'node:assert/strict';
import type { Checkpoint, CheckpointFile } from '../../../src/patch/checkpoint/checkpoint.ts';
import {
  fileLetter,
  filesSummary,
  shownFiles,
  timeWords,
} from '../../../src/ui/checkpoints/checkpointWords.ts';

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

  it('name three files, and count the others', () => {
    assert.equal(filesSummary(checkpoint([file('a'), file('b')])), 'a, b');
    assert.equal(filesSummary(checkpoint('abcde'.split('').map((name) => file(name)))), 'a, b, c and 2 more');
  });

  it('leave out the date of today', () => {
    const time = new Date(2026, 5, 7, 8, 9);
    assert.doesNotMatch(timeWords(time.toISOString(), new Date(2026, 5, 7, 23, 0)), /2026/);
    assert.match(timeWords(time.toISOString(), new Date(2026, 5, 8, 1, 0)), /2026/);
  });
});
