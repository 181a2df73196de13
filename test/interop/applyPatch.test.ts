import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ensureCodex } from '../../scripts/codex.mjs';
import { parsePatch } from '../../src/patch/format/parsePatch.ts';
import { planPatch } from '../../src/patch/plan/planPatch.ts';
import { formatSummary } from '../../src/patch/plan/formatSummary.ts';
import { readOnlyFiles, treeAfter, treeOf } from '../harness/memoryFiles.ts';
import { Random } from '../harness/random.ts';
import type { Files } from '../harness/randomPatches.ts';
import { randomFiles, randomPatch } from '../harness/randomPatches.ts';
import type { TemporaryFolder } from '../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';

const seed = Number(process.env['CORDON_FUZZ_SEED'] ?? 1);
const cases = Number(process.env['CORDON_FUZZ_CASES'] ?? 500);

describe('our engine and the Codex binary', () => {
  let temporary: TemporaryFolder;
  let program: string;

  before(async function () {
    this.timeout(600_000);
    temporary = await createTemporaryFolder('interop');
    program = join(temporary.path, 'apply_patch');
    symlinkSync(await ensureCodex(), program);
  });

  after(() => temporary.dispose());

  it(`give the same files and the same summary for every patch that Codex applies (${cases} seeded patches)`, async function () {
    this.timeout(600_000);
    let applied = 0;
    for (let index = 0; index < cases; index += 1) {
      const random = new Random(seed * 1_000_003 + index);
      const files = randomFiles(random);
      const patch = randomPatch(random, files);
      const peer = runPeer(program, join(temporary.path, 'tree'), files, patch);
      const ours = await runOurs(files, patch);
      const label = `case ${index} of seed ${seed}\n${JSON.stringify(files)}\n${patch}`;
      if (peer.exitCode === 0) {
        applied += 1;
        assert.deepEqual(ours.error, undefined, `${label}\n${ours.error ?? ''}`);
        assert.equal(`${ours.summary}\n`, peer.stdout, label);
        assert.deepEqual(ours.files, peer.files, label);
      } else if (ours.error !== undefined && peer.stderr.startsWith('Invalid patch')) {
        // Where chunks were looked for, ours may have gone on after a place that the peer does not see.
        assert.equal(ours.error.split('\n')[0], peer.stderr.split('\n')[0], label);
      }
    }
    assert.ok(applied > cases / 4, `only ${applied} of ${cases} patches applied: the generator is of no use`);
  });
});

const root = '/tree';

async function runOurs(
  files: Files,
  patch: string,
): Promise<{ error?: string; summary?: string; files?: Files }> {
  const tree = treeOf(
    Object.fromEntries(Object.entries(files).map(([name, text]) => [join(root, name), text])),
  );
  const parsed = parsePatch(patch);
  if (!parsed.ok) {
    return { error: parsed.error.message };
  }
  const planned = await planPatch(parsed.value, { files: readOnlyFiles(tree), cwd: root });
  if (!planned.ok) {
    return { error: planned.error.message };
  }
  const after = [...treeAfter(tree, planned.value.plan)].map(([path, content]) => [
    path.slice(root.length + 1),
    (content as Buffer).toString('utf8'),
  ]);
  return {
    summary: formatSummary(planned.value.plan.summary),
    files: Object.fromEntries(after.sort(([a = ''], [b = '']) => (a < b ? -1 : 1))) as Files,
  };
}

function runPeer(program: string, folder: string, files: Files, patch: string) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  const { status, stdout, stderr } = spawnSync(program, [], { cwd: folder, input: patch, encoding: 'utf8' });
  const names = (readdirSync(folder, { recursive: true }) as string[])
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();
  return {
    exitCode: status,
    stdout,
    stderr: stderr.replaceAll(folder, root),
    files: Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')])),
  };
}
