import assert from 'node:assert/strict';
import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { FuzzOutcome } from '../harness/policyFuzz.ts';
import { fuzzPolicy } from '../harness/policyFuzz.ts';
import { cannotRunUnprivileged, nobody, runUnprivileged } from '../harness/unprivileged.ts';
import type { Edit } from './harness.ts';
import { Arena, isRoot } from './harness.ts';

const seed = Number(process.env['CORDON_FUZZ_SEED'] ?? Date.now() % 1_000_000);
const rounds = Number(process.env['CORDON_FUZZ_ROUNDS'] ?? 60);

function assertSame({ differences, refusals, triples }: FuzzOutcome): void {
  assert.deepEqual(differences, []);
  // A model that refuses or allows everything would agree with anything.
  assert.ok(refusals > triples / 10 && refusals < (triples * 9) / 10);
}

describe('The launcher does what the policy says', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
    // Every round is a start of the sandbox, on a machine that may be busy.
    this.timeout(rounds * 10_000);
  });

  it(`for random trees, rules and operations (seed ${seed}, ${rounds} rounds)`, async () => {
    assertSame(await fuzzPolicy({ seed, rounds, operationsPerRound: 150 }));
  });

  it(`and for a user who is not root (seed ${seed}, ${rounds} rounds)`, function () {
    if (!isRoot || cannotRunUnprivileged !== undefined) this.skip();
    const arena = new Arena();
    try {
      const [home, runtime] = ['home', 'runtime'].map((name) => join(arena.folder, name)) as [string, string];
      for (const folder of [home, runtime]) {
        mkdirSync(folder, { mode: 0o700 });
        chownSync(folder, nobody, nobody);
      }
      chownSync(arena.folder, nobody, nobody);
      const module = `
        import { fuzzPolicy } from './test/harness/policyFuzz.ts';
        const outcome = await fuzzPolicy({ seed: ${seed}, rounds: ${rounds}, operationsPerRound: 150 });
        console.log(JSON.stringify(outcome));`;
      assertSame(runUnprivileged(module, { HOME: home, XDG_RUNTIME_DIR: runtime }) as FuzzOutcome);
    } finally {
      arena.dispose();
    }
  });

  const shownAsItIs = (path: string): readonly string[] => ['write', path, path];
  /** What each kind of mount of the companion program is replaced by. */
  const weaker: Readonly<Record<string, Edit>> = {
    'hides files': replacingWord('unreadable', shownAsItIs),
    'hides folders': replacingWord('closed', shownAsItIs),
    'keeps from writing': (argv) =>
      argv.map((word, index) =>
        word === 'read' && argv[index + 1] === argv[index + 2] && argv[index + 1] !== '/' ? 'write' : word,
      ),
  };
  for (const [name, without] of Object.entries(weaker)) {
    it(`and the comparison notices when nothing ${name}`, async function () {
      if (process.env['CORDON_MOUNTED_BY'] === 'bubblewrap') this.skip();
      const { differences } = await fuzzPolicy({ seed: 1, rounds: 8, operationsPerRound: 150, without });
      assert.ok(differences.length > 0);
    });
  }
});

/** Replaces a kind of mount and the path that follows. */
function replacingWord(word: string, by: (path: string) => readonly string[]): Edit {
  return (argv) =>
    argv.flatMap((at, index) =>
      at === word ? by(argv[index + 1] ?? '') : argv[index - 1] === word ? [] : [at],
    );
}
