import assert from 'node:assert/strict';
import { keyUnder } from '../../../src/patch/match/comparisons.ts';
import { ExactSearch } from '../../../src/patch/match/exactSearch.ts';
import { LineIndex } from '../../../src/patch/match/lineIndex.ts';
import {
  applyEdits,
  editsBetween,
  lineEndOf,
  splitLines,
  withoutLineEnd,
} from '../../../src/patch/text/lines.ts';
import { TextLines } from '../../../src/patch/text/textLines.ts';
import { Random } from '../../harness/random.ts';

function randomText(random: Random, alphabet: readonly string[], length: number): string {
  return Array.from({ length: random.integer(0, length) }, () => random.pick(alphabet)).join('');
}

describe('Lines of a text', () => {
  it('end at LF, CRLF or a lone CR, and together are the text', () => {
    assert.deepEqual(splitLines('a\nb\r\nc\rd\r\r\n\n\re'), [
      'a\n',
      'b\r\n',
      'c\r',
      'd\r',
      '\r\n',
      '\n',
      '\r',
      'e',
    ]);
    for (let seed = 1; seed <= 500; seed += 1) {
      const random = new Random(seed);
      const text = randomText(random, ['a', '\n', '\r', '\r\n', 'bc\n', '\f', '\u2028'], 30);
      const lines = splitLines(text);
      assert.equal(lines.join(''), text);
      const seen = new TextLines(text);
      assert.equal(seen.length, lines.length, JSON.stringify(text));
      lines.forEach((line, index) => {
        assert.equal(seen.contentOf(index), withoutLineEnd(line), JSON.stringify(text));
        assert.equal(seen.lineEndOf(index), lineEndOf(line));
        assert.equal(seen.lineAt(seen.startOf(index)), index);
        assert.equal(seen.lineAt(seen.startOf(index + 1) - 1), index);
      });
      assert.equal(seen.lineEndOf(-1) + seen.lineEndOf(lines.length), '');
    }
  });

  it('become others by the edits between them', () => {
    for (let seed = 1; seed <= 500; seed += 1) {
      const random = new Random(seed);
      const [before, after] = [0, 1].map(() => randomText(random, ['a\n', 'b\n', 'c\r\n', 'd\n'], 12)) as [
        string,
        string,
      ];
      const lines = splitLines(before);
      const edits = editsBetween(lines, splitLines(after));
      assert.equal(applyEdits(lines, edits).join(''), after);
      assert.equal(new TextLines(before).withEdits(edits), after);
      edits.reduce((end, { start, removed }) => {
        assert.ok(start > end || (end === -1 && start === 0), 'edits touch or overlap');
        return start + removed;
      }, -1);
    }
  });

  it('that have next to nothing in common become one edit', () => {
    const before = Array.from({ length: 6_000 }, (_, index) => `old ${index}\n`);
    const after = Array.from({ length: 6_000 }, (_, index) =>
      index % 2 === 0 ? `new ${index}\n` : `old ${index}\n`,
    );
    assert.deepEqual(editsBetween(before, after).length, 1);
  });
});

describe('ExactSearch', () => {
  it('finds what an index finds, until it leaves it to the index', () => {
    let answers = 0;
    for (let seed = 1; seed <= 400; seed += 1) {
      const random = new Random(seed);
      const text = randomText(random, ['aa\n', 'a\n', 'b\r\n', '\n', 'ab\r', 'baa'], 40);
      const lines = new TextLines(text);
      const index = new LineIndex(splitLines(text).map(withoutLineEnd), keyUnder.exact);
      const search = new ExactSearch(lines);
      for (let round = 0; round < 20; round += 1) {
        const block = Array.from({ length: random.integer(1, 4) }, () =>
          random.pick(['aa', 'a', 'b', '', 'ab']),
        );
        const from = random.integer(0, lines.length);
        const found = search.find(block, from);
        answers += Number(found !== undefined);
        assert.equal(
          found ?? index.find(block, from),
          index.find(block, from),
          JSON.stringify({ text, block, from }),
        );
      }
    }
    assert.ok(answers > 1_000);
  });

  it('gives up where looking costs more than an index', () => {
    const search = new ExactSearch(new TextLines('same\n'.repeat(50_000)));
    const block = [...Array.from({ length: 5_000 }, () => 'same'), 'last'];
    assert.equal(search.find(block.toReversed(), 0), -1);
    assert.equal(search.find([...block.slice(0, -1), 'sam'], 0), undefined);
    assert.equal(search.find(['same'], 0), undefined);
  });
});
