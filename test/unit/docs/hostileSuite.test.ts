import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { mochaTests } from '../../harness/mochaTests.ts';

const project = join(import.meta.dirname, '..', '..', '..');
const page = readFileSync(join(project, 'docs/hostile-suite.md'), 'utf8');

/** A test of `test/escape`, or a row of the page, in which `…` stands for any text. */
interface Entry {
  /** The file and the titles around it. */
  readonly suite: string;
  readonly title: string;
}

interface Row extends Entry {
  readonly hasControl: boolean;
}

describe('docs/hostile-suite.md', function () {
  let tests: readonly Entry[];
  before(function () {
    this.timeout(60_000);
    tests = mochaTests('test/escape/*.test.ts').map(({ file, suite, title }) => ({
      suite: `${basename(file)}: ${suite}`,
      title,
    }));
  });

  const rows = rowsOf(page);
  const peaceful = [...page.matchAll(/^- (\[.*)$/gm)].map(([, suite = '']) => suiteOf(suite));
  const isPeaceful = ({ suite }: Entry): boolean => peaceful.some((pattern) => means(pattern, suite));
  const isSame = (row: Entry, test: Entry): boolean =>
    means(row.suite, test.suite) && means(row.title, test.title);

  it('has every attack', () => {
    const missing = tests.filter((test) => !isPeaceful(test) && !rows.some((row) => isSame(row, test)));
    assert.deepEqual(missing, []);
  });

  it('has no attack without a test', () => {
    assert.deepEqual(
      rows.filter((row) => !tests.some((test) => isSame(row, test))),
      [],
    );
    assert.deepEqual(
      peaceful.filter((pattern) => !tests.some(({ suite }) => means(pattern, suite))),
      [],
    );
  });

  it('has a negative control or the reason for none in every row, and more than 100 of them', () => {
    const words = [...page.matchAll(/^\| .* \| ([^|]*) \|$/gm)].map(([, control = '']) => control.trim());
    const shaped = /^(yes|no)(, as root)?: \S|^Negative control$|^-+$|^(Passed|Skipped)$|^\d+$/;
    assert.deepEqual(
      words.filter((word) => !shaped.test(word)),
      [],
    );
    const controlled = tests.filter((test) => rows.find((row) => isSame(row, test))?.hasControl === true);
    assert.ok(controlled.length > 100, String(controlled.length));
  });
});

function rowsOf(text: string): readonly Row[] {
  return text
    .split(/^### /m)
    .slice(1)
    .flatMap((section) => {
      const suite = suiteOf(section.split('\n', 1)[0] ?? '');
      const lines = section.split('\n').filter((line) => line.startsWith('| '));
      return lines.slice(2).map((line): Row => {
        const cells = line.split('|').map((cell) => cell.trim());
        return { suite, title: cells[1] ?? '', hasControl: cells.at(-2)?.startsWith('yes') === true };
      });
    });
}

/** From a link to the file and the titles of the suite. */
function suiteOf(line: string): string {
  const [, file, title] =
    /^\[(.*?)\]\(\.\.\/test\/escape\/\1\): (.*)$/.exec(line.trim()) ?? assert.fail(line);
  return `${file}: ${title}`;
}

function means(pattern: string, text: string): boolean {
  const parts = pattern.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(text);
}
