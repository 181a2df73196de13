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

type Files = Readonly<Record<string, string>>;

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

const words = [
  'alpha',
  'beta',
  'gamma',
  '  x = 1',
  '\ty',
  '}',
  '',
  'say “hi” – now',
  'end  ',
  'é',
  '*** note',
  '@@ no',
];

function randomFiles(random: Random): Files {
  const names = ['a.txt', 'b.txt', 'dir/c.txt', 'dir/deep/d.txt'].filter(() => random.chance(0.7));
  return Object.fromEntries(
    (names.length === 0 ? ['a.txt'] : names).sort().map((name) => [name, randomText(random)]),
  );
}

/** One kind of line end a file: with mixed ones ours differs on purpose. */
function randomText(random: Random): string {
  const lineEnd = random.chance(0.2) ? '\r\n' : '\n';
  const lines = Array.from({ length: random.integer(0, 12) }, () => random.pick(words));
  return lines.join(lineEnd) + (lines.length > 0 && random.chance(0.85) ? lineEnd : '');
}

function randomPatch(random: Random, files: Files): string {
  const names = Object.keys(files);
  const sections = Array.from({ length: random.integer(1, 3) }, () => {
    const kind = random.next();
    if (kind < 0.15) {
      return [
        `*** Add File: ${random.pick(['new.txt', 'dir/new.txt', 'x/y/z.txt'])}`,
        ...randomLines(random).map((line) => `+${line}`),
      ];
    }
    if (kind < 0.25) {
      return [`*** Delete File: ${random.pick(names)}`];
    }
    const name = random.pick(names);
    const move = random.chance(0.15) ? [`*** Move to: ${random.pick(['moved.txt', 'dir/moved.txt'])}`] : [];
    return [`*** Update File: ${name}`, ...move, ...randomChunks(random, files[name] ?? '')];
  });
  return ['*** Begin Patch', ...sections.flat(), '*** End Patch', ''].join('\n');
}

function randomLines(random: Random): string[] {
  return Array.from({ length: random.integer(0, 4) }, () => random.pick(words));
}

/** Mostly lines as they stand in the file, in order; now and then loosened, reordered or invented. */
function randomChunks(random: Random, text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') {
    lines.pop();
  }
  const chunks: string[] = [];
  let position = 0;
  for (let count = random.integer(1, 3); count > 0; count -= 1) {
    const start = Math.min(lines.length, position + random.integer(0, 2));
    const end = Math.min(lines.length, start + random.integer(1, 4));
    position = end;
    const hasContext = start > 0 && end > start && random.chance(0.2);
    const body = lines.slice(start, end).flatMap((line) => randomlySigned(random, loosened(random, line)));
    if (body.at(-1) === '-') {
      // When the file lacks the blank line, the peer takes away a line of context in its place.
      body.pop();
    }
    if (body.length === 0) {
      body.push(`+${random.pick(words)}`);
    }
    // With only added lines below a context ours differs on purpose.
    const isPureAddition = body.every((line) => line.startsWith('+'));
    chunks.push(hasContext && !isPureAddition ? `@@ ${lines[start - 1] ?? ''}` : '@@', ...body);
    if (end === lines.length && random.chance(0.2)) {
      chunks.push('*** End of File');
    }
  }
  return chunks;
}

function randomlySigned(random: Random, line: string): string[] {
  const choice = random.next();
  if (choice < 0.45) {
    return [` ${line}`];
  }
  return choice < 0.65
    ? [`-${line}`]
    : choice < 0.85
      ? [`-${line}`, `+${random.pick(words)}`]
      : [`+${random.pick(words)}`, ` ${line}`];
}

function loosened(random: Random, line: string): string {
  if (random.chance(0.85)) {
    return line;
  }
  return random.pick([
    `${line} `,
    line.trim(),
    ` ${line}`,
    line.replaceAll('“', '"').replaceAll('”', '"').replaceAll('–', '-'),
    'invented',
  ]);
}
