import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import type { Words } from '../../src/sandbox/commands/commandLine.ts';
import { readPlainScript } from '../../src/sandbox/commands/plainScript.ts';
import type { ShellDialect } from '../../src/sandbox/commands/shellScript.ts';
import { Random } from '../harness/random.ts';
import { randomLine } from '../harness/randomLines.ts';
import type { ShellCase } from '../harness/shellWords.ts';
import { differencesFromShells } from '../harness/shellWords.ts';
import { commandLines } from '../unit/sandbox/commands/commandLines.ts';

const seed = Number(process.env['CORDON_FUZZ_SEED'] ?? Date.now() % 1_000_000);
const rounds = Number(process.env['CORDON_FUZZ_ROUNDS'] ?? 300);
const zsh = [process.env['CORDON_FUZZ_ZSH'] ?? '', '/bin/zsh', '/usr/bin/zsh'].find((path) =>
  existsSync(path),
);
const scripts = commandLines.flatMap(({ line }) => (typeof line === 'string' ? [line] : []));

describe('The words of a plain script are those that shells pass', function () {
  // Every line is several starts of shells, on a machine that may be busy.
  this.timeout(120_000 + rounds * 1_000);

  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  it(`for random lines (seed ${seed}, ${rounds} rounds)`, async () => {
    const random = new Random(seed);
    const cases = Array.from({ length: rounds }, () => caseOf(randomLine(random, scripts))).flat();
    // A reading that finds nothing certain would agree with every shell.
    assert.ok(cases.length > rounds / 4);
    assert.deepEqual(await differencesFromShells(cases, zsh), []);
  });

  it('for every line of the table', async () => {
    assert.deepEqual(await differencesFromShells(scripts.flatMap(caseOf), zsh), []);
  });

  it('and the comparison notices words that are not', async () => {
    const wrong: readonly (readonly [string, readonly Words[]])[] = [
      ['c1 a b', [['c1', 'a b']]],
      ['c1 a\\ b', [['c1', 'a\\', 'b']]],
      ['c1 a; c2', [['c1', 'a']]],
      ['c1 || c2', [['c1']]],
      ['c1 "$PATH"', [['c1', '$PATH']]],
      ['c1 {a,b}', [['c1', '{a,b}']]],
    ];
    const shells = ['bash', 'dash', ...(zsh === undefined ? [] : ['zsh' as const])] as const;
    const cases = wrong.map(([script, commands]): ShellCase => ({ script, commands, shells }));
    const differences = await differencesFromShells(cases, zsh);
    for (const [script] of wrong) {
      assert.ok(differences.some((difference) => difference.startsWith(`bash: ${JSON.stringify(script)}`)));
    }
    for (const shell of shells) {
      assert.ok(differences.some((difference) => difference.startsWith(`${shell}: "c1 a b"`)));
    }
    const broken: ShellCase = { script: 'c1 (', commands: [], shells: ['bash'] };
    assert.equal((await differencesFromShells([broken], zsh)).length, 1);
  });
});

/** What is certain for bash and dash; for zsh that is less. */
function caseOf(script: string): readonly ShellCase[] {
  const commands = certain(script, 'bash');
  if (commands === undefined) {
    return [];
  }
  const isCertainInZsh = certain(script, 'zsh') !== undefined;
  return [{ script, commands, shells: isCertainInZsh ? ['bash', 'dash', 'zsh'] : ['bash', 'dash'] }];
}

/** The commands of a script whose programs can be replaced: a path would lead to a real one. */
function certain(script: string, dialect: ShellDialect): readonly Words[] | undefined {
  const line = readPlainScript(script, dialect);
  if (line.kind === 'opaque') {
    return undefined;
  }
  const commands = line.kind === 'commands' ? line.commands : [line.command];
  const isReplaceable = commands.every(
    ([name = '']) => !name.includes('/') && !/^\.+$/.test(name) && Buffer.byteLength(name) < 255,
  );
  return isReplaceable ? commands : undefined;
}
