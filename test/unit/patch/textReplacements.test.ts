import assert from 'node:assert/strict';
import { textReplacements } from '../../../src/patch/apply/textReplacements.ts';
import type { TextPlace } from '../../../src/patch/apply/textReplacements.ts';
import type { LineEdit } from '../../../src/patch/plan/plan.ts';

describe('textReplacements()', () => {
  const cases: readonly (readonly [what: string, before: string, after: string])[] = [
    ['a changed line', 'a\nb\nc\n', 'a\nB\nc\n'],
    ['a new first line', 'a\n', 'x\na\n'],
    ['a new last line', 'a\n', 'a\nx\n'],
    ['a line after one without a line end', 'a', 'a\nx'],
    ['a removed last line', 'a\nb', 'a\n'],
    ['a removed final newline', 'a\nb\n', 'a\nb'],
    ['CRLF', 'a\r\nb\r\n', 'a\r\nB\r\n'],
    ['an empty text that is filled', '', 'a\nb'],
    ['a text that is emptied', 'a\nb', ''],
    ['several places', 'a\nb\nc\nd\ne\n', 'A\nb\nd\ne\nf\n'],
    ['characters beyond the basic plane', '\u{1f600}', '\u{1f600}\nx'],
  ];
  for (const [what, before, after] of cases) {
    it(`turns one text into the other: ${what}`, () => {
      assert.equal(applyTo(before, textReplacements(before, after, undefined)), after);
    });
  }

  it('touches only the lines that change', () => {
    assert.deepEqual(textReplacements('a\nb\nc\n', 'a\nB\nc\n', undefined), [
      { start: { line: 1, character: 0 }, end: { line: 2, character: 0 }, text: 'B\n' },
    ]);
  });

  it('takes the edits of the plan when they lead there', () => {
    const edits: readonly LineEdit[] = [{ start: 0, removed: 3, added: ['a\n', 'B\n', 'c\n'] }];
    assert.equal(textReplacements('a\nb\nc\n', 'a\nB\nc\n', edits).length, 1);
    assert.equal(textReplacements('a\nb\nc\n', 'a\nB\nc\n', edits)[0]?.start.line, 0);
  });

  it('compares when they do not', () => {
    const edits: readonly LineEdit[] = [{ start: 0, removed: 1, added: ['wrong\n'] }];
    assert.equal(applyTo('a\nb\n', textReplacements('a\nb\n', 'a\nB\n', edits)), 'a\nB\n');
  });

  it('gives nothing for equal texts', () => {
    assert.deepEqual(textReplacements('a\n', 'a\n', undefined), []);
  });
});

/** Replaces as an editor does: all places are those of the old text. */
function applyTo(text: string, replacements: ReturnType<typeof textReplacements>): string {
  const lines = text.split(/(?<=\n)/);
  const offsetAt = ({ line, character }: TextPlace): number => {
    const start = lines.slice(0, line).join('').length;
    assert.ok(line <= lines.length && character <= (lines[line] ?? '').length, 'there is no such place');
    return start + character;
  };
  return [...replacements]
    .reverse()
    .reduce(
      (result, { start, end, text: added }) =>
        result.slice(0, offsetAt(start)) + added + result.slice(offsetAt(end)),
      text,
    );
}
