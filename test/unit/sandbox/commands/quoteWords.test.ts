import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { quoteWords } from '../../../../src/sandbox/commands/quoteWords.ts';

describe('quoted words', () => {
  it('are as they were where nothing has to be quoted', () => {
    assert.equal(
      quoteWords(['git', 'push', '--force', 'a@b:c/d.git', '']),
      "git push --force a@b:c/d.git ''",
    );
  });

  it('are the same words for a shell', () => {
    const words = ['a b', "it's", '$HOME', '`x`', 'a\nb', '*', '~', '\\', '"', '', '#', 'ä'];
    const printed = execFileSync('/bin/sh', ['-c', `printf '%s\\0' ${quoteWords(words)}`], {
      encoding: 'utf8',
    });
    assert.deepEqual(printed.split('\0').slice(0, -1), words);
  });
});
