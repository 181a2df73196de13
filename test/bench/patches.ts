import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ensureCodex } from '../../scripts/codex.mjs';
import { applyPlan } from '../../src/patch/apply/applyPlan.ts';
import { createDiskFileSystem } from '../../src/patch/files/diskFileSystem.ts';
import { parsePatch } from '../../src/patch/format/parsePatch.ts';
import { planPatch } from '../../src/patch/plan/planPatch.ts';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import { printRatios, race } from './statistics.ts';

interface Workload {
  readonly title: string;
  readonly files: Readonly<Record<string, string>>;
  readonly patch: string;
  readonly rounds: number;
}

/** A file system without a disk, where there is one. */
const memory = '/dev/shm';
const cli = join(import.meta.dirname, '..', '..', 'dist', 'cli.js');

/** The engine in this process and as a program, against the Codex binary, on the same trees. */
export async function measurePatches(): Promise<void> {
  const temporary = await createTemporaryFolder('bench');
  const peer = join(temporary.path, 'apply_patch');
  symlinkSync(await ensureCodex(), peer);
  for (const workload of workloads()) {
    await measure(workload, peer, join(temporary.path, 'tree'));
  }
  // A file that is replaced in one step is a new file, and some disks take their time to make one.
  if (existsSync(memory)) {
    const tree = join(memory, `cordon-bench-${process.pid}`);
    await measure({ ...manyFiles, title: `${manyFiles.title}, in memory` }, peer, tree);
    rmSync(tree, { recursive: true, force: true });
  }
  await measureGrowth();
  await temporary.dispose();
}

async function measure({ title, files, patch, rounds }: Workload, peer: string, cwd: string): Promise<void> {
  const medians = await race(
    {
      'Codex binary': () => runProgram(peer, [], cwd, patch),
      'Cordon, command line': () => runProgram(process.execPath, [cli, 'apply-patch'], cwd, patch),
      'Cordon, in process': () => applyHere(patch, cwd),
    },
    {
      rounds,
      prepare: async () => writeTree(cwd, files),
    },
  );
  printRatios(`apply_patch: ${title} (median)`, medians, 'Codex binary');
}

function* workloads(): Generator<Workload> {
  yield {
    title: '1 hunk in 100 lines',
    files: { 'a.txt': numbered(100) },
    patch: patchOf([updateOf('a.txt', [50])]),
    rounds: 20,
  };
  yield {
    title: '1,000 hunks over 200,000 lines',
    files: { 'a.txt': numbered(200_000) },
    patch: patchOf([updateOf('a.txt', every(200, 200_000))]),
    rounds: 7,
  };
  const indented = numbered(200_000).replaceAll(/^/gm, '  ');
  yield {
    title: '1,000 hunks over 200,000 lines, equal only after trimming',
    files: { 'a.txt': indented },
    patch: patchOf([updateOf('a.txt', every(200, 200_000))]),
    rounds: 5,
  };
  yield manyFiles;
  yield {
    title: 'a block of 2,000 equal lines in 200,000',
    files: { 'a.txt': 'same\n'.repeat(200_000) },
    patch: patchOf([['*** Update File: a.txt', '@@', ...Array<string>(2_000).fill(' same '), '+new']]),
    rounds: 3,
  };
}

/** Planning alone, for files of growing length: a line that stays level means that the time grows with the size. */
async function measureGrowth(): Promise<void> {
  const shapes: Readonly<Record<string, (lines: number) => readonly [text: string, patch: string]>> = {
    'a hunk every 200 lines': (lines) => [numbered(lines), patchOf([updateOf('a.txt', every(200, lines))])],
    'the same, equal only after trimming': (lines) => [
      numbered(lines).replaceAll(/^/gm, '  '),
      patchOf([updateOf('a.txt', every(200, lines))]),
    ],
    'a block of a quarter of equal lines, not found': (lines) => [
      'same\n'.repeat(lines - 1) + 'last\n',
      patchOf([
        ['*** Update File: a.txt', '@@', '-last', ...Array<string>(lines >> 2).fill(' same'), '+new'],
      ]),
    ],
  };
  for (const [title, shape] of Object.entries(shapes)) {
    console.log(`\napply_patch: time to plan against size, ${title}`);
    for (const lines of [25_000, 50_000, 100_000, 200_000, 400_000]) {
      const [text, patch] = shape(lines);
      const { plan = 0 } = await race({ plan: () => planHere(text, patch) }, { rounds: 3 });
      const perThousand = (plan / lines) * 1_000;
      console.log(
        `  ${String(lines).padStart(7)} lines ${plan.toFixed(0).padStart(6)} ms  ${perThousand.toFixed(2)} ms for 1,000 lines`,
      );
    }
  }
}

async function planHere(text: string, patch: string): Promise<void> {
  const bytes = Buffer.from(text);
  const parsed = parsePatch(patch);
  if (!parsed.ok) {
    throw new Error(parsed.error.message);
  }
  await planPatch(parsed.value, {
    cwd: '/',
    files: {
      stat: async () => ({ kind: 'file', mode: 0o644, size: bytes.length, version: '1' }),
      read: async () => bytes,
      stage: () => Promise.reject(new Error('planning writes nothing')),
    },
  });
}

async function applyHere(text: string, cwd: string): Promise<void> {
  const files = createDiskFileSystem();
  const patch = parsePatch(text);
  const planned = patch.ok ? await planPatch(patch.value, { files, cwd }) : patch;
  const applied = planned.ok ? await applyPlan(planned.value.plan, files, undefined) : planned;
  if (!applied.ok) {
    throw new Error(applied.error.message);
  }
}

async function runProgram(file: string, args: readonly string[], cwd: string, input: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const child = spawn(file, args, { cwd, stdio: ['pipe', 'ignore', 'pipe'] });
    const errors: Buffer[] = [];
    child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${file}: ${Buffer.concat(errors).toString()}`)),
    );
    child.stdin.end(input);
  });
}

function writeTree(folder: string, files: Readonly<Record<string, string>>): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

const names = Array.from({ length: 500 }, (_, index) => `dir${index % 20}/file${index}.txt`);
const manyFiles: Workload = {
  title: '500 files, one hunk each',
  files: Object.fromEntries(names.map((name) => [name, numbered(100)])),
  patch: patchOf(names.map((name) => updateOf(name, [50]))),
  rounds: 7,
};

function numbered(count: number): string {
  return Array.from({ length: count }, (_, index) => `line ${index + 1} of the file\n`).join('');
}

function every(step: number, end: number): number[] {
  return Array.from({ length: Math.floor(end / step) }, (_, index) => index * step + 10);
}

/** One hunk at each of these lines, with a line of context on both sides. */
function updateOf(name: string, lines: readonly number[]): string[] {
  const text = (line: number): string => `line ${line} of the file`;
  return [
    `*** Update File: ${name}`,
    ...lines.flatMap((line) => [
      '@@',
      ` ${text(line - 1)}`,
      `-${text(line)}`,
      `+changed ${line}`,
      ` ${text(line + 1)}`,
    ]),
  ];
}

function patchOf(sections: readonly (readonly string[])[]): string {
  return ['*** Begin Patch', ...sections.flat(), '*** End Patch', ''].join('\n');
}
