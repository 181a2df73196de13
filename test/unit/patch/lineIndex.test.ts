import assert from 'node:assert/strict';
import { keyUnder } from '../../../src/patch/match/comparisons.ts';
import { LineIndex } from '../../../src/patch/match/lineIndex.ts';
import { Random } from '../../harness/random.ts';

describe('LineIndex', () => {
  it('finds what looking at every position finds', () => {
    for (let seed = 1; seed <= 400; seed += 1) {
      const random = new Random(seed);
      const letters = ['a', 'b', 'c', 'd'].slice(0, random.integer(1, 4));
      const lines = Array.from({ length: random.integer(0, 60) }, () => random.pick(letters));
      const block = Array.from({ length: random.integer(1, 6) }, () => random.pick([...letters, 'z']));
      const index = new LineIndex(lines, keyUnder.exact);
      for (let from = 0; from <= lines.length; from += random.integer(1, 9)) {
        const expected = lines.findIndex(
          (_, position) =>
            position >= from && block.every((line, offset) => lines[position + offset] === line),
        );
        assert.equal(index.find(block, from), expected, JSON.stringify({ lines, block, from }));
      }
    }
  });

  it('finds a block among lines that nearly are it, far more often than it can try each', () => {
    const lines = Array.from({ length: 60_000 }, (_, position) => (position % 300 === 299 ? 'end' : 'same'));
    const block = [...Array.from({ length: 1_500 }, () => 'same'), 'end'];
    lines.fill('same', 40_000, 58_000);
    lines[58_000] = 'end';
    const index = new LineIndex(lines, keyUnder.exact);
    assert.equal(index.find(block, 0), 58_000 - 1_500);
  });

  it('compares as each comparison says', () => {
    const lines = ['\u00a0“a” –b \u2003', 'x'];
    assert.equal(new LineIndex(lines, keyUnder.bothEnds).find(['“a” –b'], 0), 0);
    assert.equal(new LineIndex(lines, keyUnder.typography).find(['"a" -b'], 0), 0);
    assert.equal(new LineIndex(lines, keyUnder.bothEnds).find(['"a" -b'], 0), -1);
    assert.equal(new LineIndex(['a\u200b'], keyUnder.typography).find(['a'], 0), -1);
    assert.equal(new LineIndex(['\ufeffa', 'a\u0085'], keyUnder.bothEnds).find(['a'], 0), 1);
  });
});
