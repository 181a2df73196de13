import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseGitConfig } from '../../../../src/sandbox/git/configFile.ts';
import { Random } from '../../../harness/random.ts';
import type { TemporaryFolder } from '../../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../../harness/temporaryFolder.ts';

type Pairs = readonly (readonly [key: string, value: string | undefined])[];

describe('parseGitConfig()', () => {
  let folder: TemporaryFolder;
  before(async () => void (folder = await createTemporaryFolder('config')));
  after(() => folder.dispose());

  const pairs = (text: string): Pairs | undefined =>
    parseGitConfig(text)?.map(({ key, value }) => [key, value] as const);

  /** What git itself reads; undefined when it refuses the file. */
  const asGit = (text: string): Pairs | undefined => {
    const path = join(folder.path, 'config');
    writeFileSync(path, text, 'latin1');
    try {
      const output = execFileSync('git', ['config', '--file', path, '--no-includes', '--list', '--null'], {
        cwd: '/',
        encoding: 'latin1',
        stdio: 'pipe',
      });
      return output
        .split('\0')
        .slice(0, -1)
        .map((entry) => {
          const at = entry.indexOf('\n');
          return at < 0
            ? ([entry, undefined] as const)
            : ([entry.slice(0, at), entry.slice(at + 1)] as const);
        });
    } catch {
      return undefined;
    }
  };

  /** Versions of git differ in whether a tab inside of a value stays one. */
  const spaced = (list: Pairs | undefined): Pairs | undefined =>
    list?.map(([key, value]) => [key, value?.replace(/[\t\r]/g, ' ')] as const);

  const files: Readonly<Record<string, string>> = {
    'ordinary settings': '[core]\n\tbare = false\n[remote "o"]\n\turl = /x\n\tfetch = +refs/*:refs/*\n',
    'a variable in the line of its section': '[core] fsmonitor = evil\n',
    'names in any case': '[CORE]\nFSMonitor = Evil\n[Remote "Origin"]\nURL = x\n[Old.Style]\nx = y\n',
    'lines that go on': '[core]\nfsmonitor = a \\\n  b "c \\\nd"\n',
    'quotes, escapes and comments': '[a]\nb = "x # y" ; z\nc = \\"q\\" \\t\\\\ # no\n',
    'a name alone': '[core]\nbare\nfsmonitor # x\n',
    'other line ends': '[core]\r\n\tbare = true\r\n\tx = a \\\r\n b\r\n',
    'a byte order mark': '\xef\xbb\xbf[core]\nbare = true\n',
    'no line end at the end': '[core]\nx = y',
    'an escaped name of a subsection': '[a "b\\"c\\\\d\\e"]\nx = y\n',
    'a subsection that never ends': '[a "b\nx = y\n',
    'a variable without a section': 'x = y\n',
    'an unknown escape': '[a]\nx = \\q\n',
    'a quote that never ends': '[a]\nx = "y\n',
  };
  for (const [what, text] of Object.entries(files)) {
    it(`reads ${what} as git does`, () => assert.deepEqual(pairs(text), asGit(text)));
  }

  it('reads any text as git does', function () {
    this.timeout(60_000);
    const random = new Random(4);
    const pieces = [
      '[core]',
      '[a "b"]',
      '[',
      ']',
      '"',
      '\\',
      '\n',
      '\r\n',
      '\r',
      ' ',
      '\t',
      '#',
      ';',
      '=',
      'x',
      'key',
      'fsmonitor = evil',
      '.',
      '-',
      '7',
      '\\\n',
      '\\"',
      '[A.b]',
    ];
    for (let round = 0; round < 1000; round += 1) {
      const length = random.integer(1, 14);
      const start = random.integer(0, 2) === 0 ? '' : '[core]\n';
      const text = start + Array.from({ length }, () => random.pick(pieces)).join('');
      assert.deepEqual(spaced(pairs(text)), spaced(asGit(text)), JSON.stringify(text));
    }
  });

  it('knows where a variable is', () => {
    const text = '[core] # x\n\tfsmonitor = a \\\n b\r\n[x]\ny\n';
    assert.deepEqual(
      parseGitConfig(text)?.map(({ start, end }) => text.slice(start, end)),
      ['fsmonitor = a \\\n b', 'y'],
    );
  });
});
