import assert from 'node:assert/strict';
import { splitLine } from '../../../../src/sandbox/rules/splitLine.ts';

describe('splitLine', () => {
  const cases: readonly (readonly [line: string, words: readonly string[] | undefined])[] = [
    ['', []],
    [' \t\n', []],
    ['git push origin', ['git', 'push', 'origin']],
    ['a  b\tc\nd', ['a', 'b', 'c', 'd']],
    [`'a b' "c d" e\\ f`, ['a b', 'c d', 'e f']],
    [`a'b'"c"d`, ['abcd']],
    [`'' ""`, ['', '']],
    [`"a\\"b\\\\c\\$d\\\`e\\f"`, ['a"b\\c$d`e\\f']],
    [`'a\\'`, ['a\\']],
    ['a # b\nc', ['a', 'c']],
    ['a#b', ['a#b']],
    ['a\\\nb', ['ab']],
    [`"a\\\nb"`, ['ab']],
    ['a; b && c', ['a;', 'b', '&&', 'c']],
    [`a 'b`, undefined],
    [`a "b`, undefined],
    [`a "b\\"`, undefined],
    ['a \\', undefined],
  ];
  for (const [line, words] of cases) {
    it(`splits ${JSON.stringify(line)}`, () => {
      assert.deepEqual(splitLine(line), words);
    });
  }
});
