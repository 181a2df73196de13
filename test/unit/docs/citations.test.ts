import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { mochaTests } from '../../harness/mochaTests.ts';

const project = join(import.meta.dirname, '../../..');
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(project, 'docs')).map((name) => `docs/${name}`),
];
const textOf = (page: string): string => readFileSync(join(project, page), 'utf8');

describe('the pages', () => {
  for (const page of pages) {
    it(`lead to files that exist: ${page}`, () => {
      const links = [...textOf(page).matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, link = '']) => link);
      assert.deepEqual(
        links.filter((link) => !existsSync(join(project, dirname(page), link))),
        [],
      );
    });
  }
});

describe('docs/comparison.md', function () {
  this.timeout(60_000);

  it('names tests that exist', () => {
    const cited = [
      ...textOf('docs/comparison.md').matchAll(/\]\(\.\.\/(test\/\S+\.test\.ts)\): ([^|]*?) +\|/g),
    ].map(([, file = '', title = '']) => ({ file, title }));
    const tests = mochaTests(...new Set(cited.map(({ file }) => file)));
    assert.deepEqual(
      cited.filter(
        ({ file, title }) => !tests.some((test) => test.file === file && test.title.trim() === title),
      ),
      [],
    );
    assert.ok(cited.length > 40, String(cited.length));
  });

  it('has a test for every line', () => {
    const lines = textOf('docs/comparison.md')
      .split('\n')
      .filter((line) => line.startsWith('| '));
    const bare = lines.filter(
      (line) => !/^\| (-+|attack|on the machine|need|wish) /.test(line) && !line.includes('.test.ts)'),
    );
    assert.deepEqual(bare, []);
  });
});
