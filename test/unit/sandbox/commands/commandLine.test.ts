import assert from 'node:assert/strict';
import { createBashParser } from '../../../../src/sandbox/commands/bashParser.ts';
import { classifyLine } from '../../../../src/sandbox/commands/commandClass.ts';
import { readCommand } from '../../../../src/sandbox/commands/commandLine.ts';
import type { OpaqueReason } from '../../../../src/sandbox/commands/opaqueReason.ts';
import { opaqueReasons } from '../../../../src/sandbox/commands/opaqueReason.ts';
import { commandLines } from './commandLines.ts';

const parse = createBashParser();

describe('readCommand()', () => {
  for (const row of commandLines) {
    it(`reads ${JSON.stringify(row.line)}`, async () => {
      const read = await readCommand(
        typeof row.line === 'string' ? ['bash', '-lc', row.line] : row.line,
        parse,
      );
      const { line } = read;
      const found =
        line.kind === 'commands'
          ? { commands: line.commands }
          : line.kind === 'hereDocument'
            ? { hereDocument: line.command }
            : { opaque: line.reason };
      assert.deepEqual({ ...row, ...found, class: classifyLine(read) }, row);
    });
  }

  it('reads at least 300 lines, and meets every reason', () => {
    assert.ok(commandLines.length >= 300);
    const met = new Set(commandLines.flatMap((row) => ('opaque' in row ? [row.opaque] : [])));
    const never = Object.keys(opaqueReasons).filter((reason) => !met.has(reason as OpaqueReason));
    // Those have tests of their own.
    assert.deepEqual(never, ['too-long', 'unknown-shell']);
  });

  it('gives up on a script that is too long', async () => {
    const { line } = await readCommand(['sh', '-c', `echo ${'a'.repeat(70_000)}`], parse);
    assert.deepEqual(line, { kind: 'opaque', reason: 'too-long' });
  });

  it('gives up when the grammar does, and still sees what is dangerous', async () => {
    const read = await readCommand(['sh', '-c', 'ls; rm -rf x'], () => Promise.resolve(undefined));
    assert.deepEqual(read.line, { kind: 'opaque', reason: 'syntax' });
    assert.equal(classifyLine(read), 'forced-removal');
  });

  it('gives up when the grammar sees something else', async () => {
    const blind = createBashParser();
    const { line } = await readCommand(['sh', '-c', 'ls -a'], (_, look) => blind('ls -b', look));
    assert.deepEqual(line, { kind: 'opaque', reason: 'syntax' });
  });

  it('asks the grammar once for each script', async () => {
    const scripts: string[] = [];
    await readCommand(['sh', '-c', "ls; bash -c 'git push'"], (script, look) => {
      scripts.push(script);
      return parse(script, look);
    });
    assert.deepEqual(scripts, ["ls; bash -c 'git push'", 'git push']);
  });

  it('ends soon with wrappers in wrappers', async () => {
    const words = Array.from({ length: 20_000 }, (_, index) => (index % 2 === 0 ? 'sudo' : '-exec'));
    for (const argv of [words, ['find', ...words], ['sh', '-c', words.join(' ')]]) {
      assert.ok((await readCommand(argv, parse)).anywhere.length < 100);
    }
  });
});

describe('ReadCommand.anywhere', () => {
  const scripts: readonly (readonly [string, readonly (readonly string[])[]])[] = [
    [
      'if test -d a; then git push; fi',
      [
        ['test', '-d', 'a'],
        ['git', 'push'],
      ],
    ],
    ['"git" push > log', [['git', 'push']]],
    ["g'i't push $x", [['git', 'push', '$x']]],
    [
      'echo "$(git push)"',
      [
        ['echo', '"$(git push)"'],
        ['git', 'push'],
      ],
    ],
    [
      'A=1 sudo -u x git push',
      [
        ['sudo', '-u', 'x', 'git', 'push'],
        ['git', 'push'],
      ],
    ],
    ['$cmd push', []],
    ['"$cmd" push', []],
    [
      'time git push',
      [
        ['time', 'git', 'push'],
        ['git', 'push'],
      ],
    ],
    ["bash -c 'git push > x'", [['git', 'push']]],
    [
      "bash -xc 'git push'",
      [
        ['bash', '-xc', 'git push'],
        ['git', 'push'],
      ],
    ],
    [
      "ssh host 'git push'",
      [
        ['ssh', 'host', 'git push'],
        ['git', 'push'],
      ],
    ],
    ["bash <<'E'\ngit push\nE", [['bash'], ['git', 'push']]],
    [
      'find . -exec git add {} +',
      [
        ['find', '.', '-exec', 'git', 'add', '{}', '+'],
        ['git', 'add', '{}'],
      ],
    ],
  ];
  for (const [script, expected] of scripts) {
    it(`of ${JSON.stringify(script)}`, async () => {
      assert.deepEqual((await readCommand(['bash', '-lc', script], parse)).anywhere, expected);
    });
  }
});
