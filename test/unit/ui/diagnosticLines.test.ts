import assert from 'node:assert/strict';
import {
  changedRanges,
  newProblems,
  problemsIn,
  problemsNote,
} from '../../../src/ui/patch/diagnosticLines.ts';
import type { Problem } from '../../../src/ui/patch/diagnosticLines.ts';

const problem = (message: string, line = 0, more: Partial<Problem> = {}): Problem => ({
  line,
  endLine: line,
  column: 0,
  severity: 'error',
  message,
  source: undefined,
  ...more,
});

describe('newProblems()', () => {
  it('knows a problem that only moved', () => {
    assert.deepEqual(newProblems([problem('a', 3)], [problem('a', 7)]), []);
  });

  it('counts: a second one of the same kind is new', () => {
    assert.deepEqual(newProblems([problem('a', 1)], [problem('a', 1), problem('a', 2)]), [problem('a', 2)]);
  });

  it('tells severities and sources apart', () => {
    const after = [problem('a', 0, { severity: 'warning' }), problem('a', 0, { source: 'ts' })];
    assert.deepEqual(newProblems([problem('a')], after), after);
  });
});

describe('changedRanges() and problemsIn()', () => {
  it('find problems in added lines, with the lines before them counted', () => {
    const ranges = changedRanges([
      { start: 1, removed: 1, added: ['x\n', 'y\n', 'z\n'] },
      { start: 5, removed: 2, added: ['w\n'] },
    ]);
    assert.deepEqual(ranges, [
      { start: 1, end: 4 },
      { start: 7, end: 8 },
    ]);
    const found = problemsIn(
      ranges,
      [0, 1, 3, 4, 6, 7, 8].map((line) => problem(String(line), line)),
    );
    assert.deepEqual(
      found.map(({ message }) => message),
      ['1', '3', '7'],
    );
  });

  it('find a problem that spans a changed line, and one right after removed lines', () => {
    assert.equal(problemsIn([{ start: 5, end: 6 }], [problem('a', 2, { endLine: 9 })]).length, 1);
    assert.equal(
      problemsIn(changedRanges([{ start: 3, removed: 2, added: [] }]), [problem('a', 3)]).length,
      1,
    );
  });
});

describe('problemsNote()', () => {
  it('prints problems as compilers do, errors first', () => {
    const files = [
      {
        name: 'src/a.ts',
        problems: [
          problem('careful', 0, { severity: 'warning' }),
          problem("Cannot find\n  name 'x'", 2, { column: 4, source: 'ts' }),
        ],
      },
      { name: 'b.ts', problems: [problem('no', 9)] },
    ];
    assert.equal(
      problemsNote(files),
      [
        'Problems that appeared with this patch:',
        "src/a.ts:3:5 error Cannot find name 'x' [ts]",
        'b.ts:10:1 error no',
        'src/a.ts:1:1 warning careful',
      ].join('\n'),
    );
  });

  it('is short, however much there is', () => {
    const problems = Array.from({ length: 25 }, (_, line) => problem('x'.repeat(1000), line));
    const lines = problemsNote([{ name: 'a', problems }])?.split('\n') ?? [];
    assert.equal(lines.length, 22);
    assert.equal(lines.at(-1), '… and 5 more');
    assert.ok(lines.every((line) => line.length < 350));
  });

  it('is nothing when there is nothing', () => {
    assert.equal(problemsNote([{ name: 'a', problems: [] }]), undefined);
  });
});
