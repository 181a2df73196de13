import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const shared = join(import.meta.dirname, '../../../../shared');
const corpusPath = join(shared, 'corpus/apply-patch');
const libraryPath = join(shared, 'check/apply_patch_lib.mjs');
const cli = join(import.meta.dirname, '../../../dist/cli.js');

const library = existsSync(libraryPath) ? ((await import(libraryPath)) as Library) : undefined;

/** Improvements that Cordon does not make, with the reason; it does what the reference does. */
const deliberate: Readonly<Record<string, string>> = {
  'add-overwrite': 'Models replace whole files this way; a note says that one was overwritten.',
};

describe('cordon apply-patch over the corpus', () => {
  if (library === undefined || !existsSync(corpusPath)) {
    it.skip(`needs the corpus at ${corpusPath} and ${libraryPath}`);
    return;
  }
  const names = readdirSync(corpusPath).filter((name) => existsSync(join(corpusPath, name, 'case.json')));

  for (const name of names) {
    const stored = library.loadCase(join(corpusPath, name));
    const { meta, better, expected } = stored;
    const isRoot = process.getuid?.() === 0;
    const needsSetpriv = stored.unpriv && isRoot && !existsSync('/usr/bin/setpriv');
    // Only root can look at a file afterwards that nobody may read.
    const needsRoot = name === 'unreadable-update' && !isRoot;

    (needsSetpriv || needsRoot ? it.skip : it)(`${name} (${meta.policy}): ${meta.note}`, () => {
      const run = library.runEngine(`${process.execPath} ${cli} apply-patch`, stored);
      if (meta.policy === 'improve' && deliberate[name] === undefined) {
        assert.equal(run.exit, meta.better?.exit ?? meta.exit, run.stderr);
        assert.deepEqual(library.diffStored(run.tree, better ?? expected, better === null), []);
        return;
      }
      assert.equal(run.exit, meta.exit, run.stderr);
      assert.deepEqual(library.diffStored(run.tree, expected), []);
      assert.equal(run.stdout, meta.stdout);
      assert.ok(run.stderr.startsWith(meta.exit === 0 ? '' : meta.stderr), run.stderr);
    });
  }
});

interface Library {
  loadCase(folder: string): Case;
  runEngine(
    command: string,
    given: Case,
  ): {
    readonly exit: number;
    readonly stdout: string;
    readonly stderr: string;
    readonly tree: unknown;
  };
  /** Differences between what is there and what was stored, as sentences. */
  diffStored(tree: unknown, stored: unknown, comparesModes?: boolean): readonly string[];
}

interface Case {
  readonly meta: {
    readonly note: string;
    readonly policy: 'match' | 'improve';
    readonly exit: number;
    readonly stdout: string;
    readonly stderr: string;
    readonly better?: { readonly exit?: number };
  };
  readonly unpriv: boolean;
  readonly expected: unknown;
  readonly better: unknown;
}
