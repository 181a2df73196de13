import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { applyPlan } from '../../../src/patch/apply/applyPlan.ts';
import { unifiedDiffOfPlan } from '../../../src/patch/diff/unifiedDiff.ts';
import { createDiskFileSystem } from '../../../src/patch/files/diskFileSystem.ts';
import { parsePatch } from '../../../src/patch/format/parsePatch.ts';
import type { Plan } from '../../../src/patch/plan/plan.ts';
import { planPatch } from '../../../src/patch/plan/planPatch.ts';
import { patchBetween } from '../../harness/patchBetween.ts';
import { Random } from '../../harness/random.ts';
import type { Files } from '../../harness/randomPatches.ts';
import { randomFiles, randomPatch } from '../../harness/randomPatches.ts';
import type { TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';
import { treeSnapshot } from '../../harness/treeSnapshot.ts';

const seeds = Array.from({ length: 150 }, (_, index) => index + 1);

describe('Random trees and patches on the disk', () => {
  const files = createDiskFileSystem();
  let folder: TemporaryFolder;

  beforeEach(async () => {
    folder = await createTemporaryFolder('properties');
  });

  afterEach(() => folder.dispose());

  it('come back byte for byte when a patch is applied and then its reverse', async () => {
    let changed = 0;
    for (const seed of seeds) {
      const random = new Random(seed);
      const before = normalized(randomFiles(random));
      const tree = join(folder.path, String(seed));
      write(tree, before);
      const plan = await planned(tree, randomPatch(random, before));
      if (plan === undefined) {
        continue;
      }
      await apply(plan);
      const after = read(tree);
      changed += Number(JSON.stringify(after) !== JSON.stringify(before));
      const reverse = Object.keys(before).length + Object.keys(after).length > 0 && !same(before, after);
      if (reverse) {
        const back = await planned(tree, patchBetween(after, before));
        assert.ok(back, `the reverse of seed ${seed} does not apply`);
        await apply(back);
      }
      assert.deepEqual(read(tree), before, `seed ${seed}`);
    }
    assert.ok(changed > seeds.length / 4, `only ${changed} patches changed anything`);
  });

  it('are the same to the byte and the nanosecond after planning', async () => {
    for (const seed of seeds.slice(0, 60)) {
      const random = new Random(seed);
      const tree = join(folder.path, String(seed));
      const before = randomFiles(random);
      write(tree, before);
      const snapshot = treeSnapshot(tree);
      await planned(tree, randomPatch(random, before));
      assert.deepEqual(treeSnapshot(tree), snapshot, `seed ${seed}`);
    }
  });

  it('have a unified diff that git applies to the same result', async () => {
    let compared = 0;
    for (const seed of seeds) {
      const random = new Random(seed);
      const before = randomFiles(random);
      const [ours, gits] = [join(folder.path, `${seed}-ours`), join(folder.path, `${seed}-git`)];
      write(ours, before);
      write(gits, before);
      const plan = await planned(ours, randomPatch(random, before));
      // Git refuses an empty diff.
      if (plan === undefined || plan.changes.length === 0) {
        continue;
      }
      const diff = unifiedDiffOfPlan(plan, random.integer(0, 4));
      await apply(plan);
      const flags = ['apply', '--unidiff-zero', '--whitespace=nowarn', '-'];
      execFileSync('git', flags, { cwd: gits, input: diff, stdio: ['pipe', 'pipe', 'pipe'] });
      assert.deepEqual(read(gits), read(ours), `seed ${seed}\n${diff}`);
      compared += 1;
    }
    assert.ok(compared > seeds.length / 4, `only ${compared} diffs were compared`);
  });

  async function planned(cwd: string, text: string): Promise<Plan | undefined> {
    const patch = parsePatch(text);
    const result = patch.ok ? await planPatch(patch.value, { files, cwd }) : patch;
    return result.ok ? result.value.plan : undefined;
  }

  async function apply(plan: Plan): Promise<void> {
    const applied = await applyPlan(plan, files, undefined);
    assert.ok(applied.ok, applied.ok ? '' : applied.error.message);
  }
});

/** What the format can say about a text: LF, and a line feed at the end. */
function normalized(files: Files): Files {
  return Object.fromEntries(
    Object.entries(files).map(([name, text]) => {
      const lines = text.replaceAll('\r\n', '\n');
      return [name, lines === '' || lines.endsWith('\n') ? lines : `${lines}\n`];
    }),
  );
}

function write(folder: string, files: Files): void {
  mkdirSync(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

function read(folder: string): Files {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
  return Object.fromEntries(names.sort().map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

function same(a: Files, b: Files): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
