import assert from 'node:assert/strict';
import {
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { FileRule } from '../../src/sandbox/policy/fileRules.ts';
import { accesses } from '../../src/sandbox/policy/fileRules.ts';
import type { SandboxPolicy } from '../../src/sandbox/policy/policy.ts';
import type { Edit } from '../escape/harness.ts';
import { Arena, compileAttack } from '../escape/harness.ts';
import type { ModelFolder, ModelNode } from './modelFiles.ts';
import { allPaths, newFile, newFolder, nodeAt } from './modelFiles.ts';
import { policyOf } from './policyOf.ts';
import type { Operation } from './policyModel.ts';
import { PolicyModel, operationNames } from './policyModel.ts';
import { Random } from './random.ts';

export interface FuzzOptions {
  readonly seed: number;
  readonly rounds: number;
  readonly operationsPerRound: number;
  /** Takes a defence away, so that differences must be found. */
  readonly without?: Edit;
}

export interface FuzzOutcome {
  readonly triples: number;
  readonly refusals: number;
  /** Each with what is needed to see it again. */
  readonly differences: readonly string[];
}

/** Random trees, policies and operations, through the real launcher and through the model. */
export async function fuzzPolicy(options: FuzzOptions): Promise<FuzzOutcome> {
  const arena = new Arena();
  const totals = { triples: 0, refusals: 0, differences: [] as string[] };
  try {
    const programs = join(arena.folder, 'programs');
    mkdirSync(programs);
    compileAttack('operations', programs, ['-static']);
    for (let round = 0; round < options.rounds; round++) {
      const seed = options.seed + round;
      const found = await fuzzOnce(arena, programs, seed, options);
      totals.triples += options.operationsPerRound;
      totals.refusals += found.refusals;
      totals.differences.push(...found.differences.map((difference) => `seed ${seed}: ${difference}`));
    }
  } finally {
    arena.dispose();
  }
  return totals;
}

const names = ['a', 'b', 'c', 'key.pem', '.env', 'node_modules', '.vscode'];

async function fuzzOnce(
  arena: Arena,
  programs: string,
  seed: number,
  { operationsPerRound, without }: FuzzOptions,
): Promise<{ readonly refusals: number; readonly differences: readonly string[] }> {
  const random = new Random(seed);
  const area = join(arena.folder, 'area');
  rmSync(area, { recursive: true, force: true });
  const top = newFolder();
  const tree = makeFolders(top, area);
  for (const name of ['root', 'other']) {
    const folder = newFolder();
    tree.children.set(name, folder);
    fill(random, folder, area, 0);
  }
  addSecondNames(random, tree, area);
  materialize(tree, area);
  const policy = randomPolicy(random, top, area, programs);
  const model = new PolicyModel(policy, top);
  const operations: Operation[] = [];
  const expected: (string | undefined)[] = [];
  for (let count = 0; count < operationsPerRound; count++) {
    const operation = randomOperation(random, top, area);
    operations.push(operation);
    expected.push(model.expect(operation));
  }
  const input = operations.map(({ name, path, other }) => [name, path, other ?? ''].join('\t')).join('\n');
  const script = join(programs, 'operations.txt');
  writeFileSync(script, `${input}\n`);
  const argv = ['/bin/sh', '-c', `exec "$0" < "$1"`, join(programs, 'operations'), script];
  const outcome = await arena.run(argv, { cwd: policy.root, ...(without && { without }) }, policy);
  assert.equal(outcome.exitCode, 0, `seed ${seed}: ${outcome.stderr}\n${JSON.stringify(policy.files)}`);
  const answers = outcome.stdout.split('\n');
  const differences = operations.flatMap((operation, index) => {
    const answer = answers[index] ?? '';
    const isSame =
      expected[index] === undefined ? !answer.startsWith('0 ') : answer === `0 ${expected[index]}`;
    return isSame
      ? []
      : [`${describeOperation(operation, area)} gave "${answer}", expected ${describe(expected[index])}`];
  });
  differences.push(...treeDifferences(describeTree(tree), describeDisk(area)));
  const context = `\n  rules ${policy.files.map(({ path, access }) => `${path.replace(area, '')}=${access}`).join(' ')}; globs ${policy.hidden.map(({ glob }) => glob).join(' ')}`;
  return {
    refusals: expected.filter((expectation) => expectation === undefined).length,
    // What follows a first difference follows from it.
    differences: differences.slice(0, 1).map((difference) => difference + context),
  };
}

function makeFolders(top: ModelFolder, path: string): ModelFolder {
  let folder = top;
  for (const name of path.split('/').slice(1)) {
    const next = newFolder();
    folder.children.set(name, next);
    folder = next;
  }
  return folder;
}

function fill(random: Random, folder: ModelFolder, area: string, depth: number): void {
  for (const name of names) {
    const kind = random.next();
    const isMetadata = name === '.vscode';
    if (depth < 3 && kind < 0.35) {
      const child = newFolder();
      folder.children.set(name, child);
      fill(random, child, area, depth + 1);
    } else if (kind < 0.6) {
      folder.children.set(name, newFile(`content${random.integer(0, 999)}`));
    } else if (kind < 0.7 && !isMetadata) {
      folder.children.set(name, { kind: 'link', target: randomTarget(random, area) });
    }
  }
}

function randomTarget(random: Random, area: string): string {
  const rest = Array.from({ length: random.integer(1, 2) }, () => random.pick(names)).join('/');
  return random.pick([
    rest,
    `../${rest}`,
    `${area}/root/${rest}`,
    `${area}/other/${rest}`,
    '/no/such/place',
    '.',
    '..',
  ]);
}

function addSecondNames(random: Random, tree: ModelFolder, area: string): void {
  const all = [...allPaths(tree, area)];
  const files = all.filter(([path, node]) => node.kind === 'file' && !path.includes('node_modules'));
  const folders = all.filter(([path, node]) => node.kind === 'folder' && !path.includes('node_modules'));
  if (files.length > 0 && folders.length > 0 && random.chance(0.5)) {
    const [, folder] = random.pick(folders);
    const [, file] = random.pick(files);
    const name = random.pick(['d', 'key.pem']);
    if (folder.kind === 'folder' && !folder.children.has(name)) {
      folder.children.set(name, file);
    }
  }
}

function materialize(tree: ModelFolder, area: string): void {
  const made = new Map<ModelNode, string>();
  mkdirSync(area, { mode: 0o755 });
  for (const [path, node] of allPaths(tree, area)) {
    const twin = made.get(node);
    if (twin !== undefined) {
      linkSync(twin, path);
    } else if (node.kind === 'folder') {
      mkdirSync(path, { mode: 0o755 });
    } else if (node.kind === 'file') {
      writeFileSync(path, node.content, { mode: 0o644 });
      made.set(node, path);
    } else {
      symlinkSync(node.target, path);
    }
  }
}

function randomPolicy(random: Random, top: ModelFolder, area: string, programs: string): SandboxPolicy {
  const root = join(area, 'root');
  const rules = new Map<string, FileRule['access']>([
    ['/', random.chance(0.8) ? 'read' : 'none'],
    ...['/usr', '/bin', '/lib', '/lib64', '/etc'].filter(isFolder).map((path) => [path, 'read'] as const),
    [programs, 'read'],
    [root, 'write'],
  ]);
  const candidates = [...allPaths(nodeAt(top, area) as ModelFolder, area)].filter(
    ([path, node]) => node.kind !== 'link' && path !== root,
  );
  for (let count = random.integer(0, 10); count > 0; count--) {
    const [path, node] = random.pick(candidates);
    const missing = node.kind === 'folder' && random.chance(0.25);
    const target = missing ? join(path, random.pick(['x', 'a', 'b', 'x/y'])) : path;
    if (!missing || canHaveRule(top, target)) {
      rules.set(target, random.pick(accesses));
    }
  }
  const hidden = ['**/.env', '**/*.pem', '**/b/c', 'a/**/b', 'a']
    .filter(() => random.chance(0.25))
    .map((glob) => ({ folder: random.chance(0.7) ? root : area, glob, source: 'user' }) as const);
  return policyOf(root, {
    files: [...rules].map(([path, access]) => ({ path, access, source: 'user' })),
    hidden,
  });
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Rules are for canonical paths, and not for what would lie in a file. */
function canHaveRule(top: ModelFolder, path: string): boolean {
  const node = nodeAt(top, path);
  if (node !== undefined) {
    return node.kind !== 'link';
  }
  const parent = nodeAt(top, dirname(path));
  return parent === undefined ? canHaveRule(top, dirname(path)) : parent.kind === 'folder';
}

function randomOperation(random: Random, top: ModelFolder, area: string): Operation {
  const name = random.pick(operationNames);
  const path = randomPath(random, top, area);
  switch (name) {
    case 'create':
    case 'append':
      return { name, path, other: `text${random.integer(0, 999)}` };
    case 'chmod': {
      const node = nodeAt(top, path);
      return { name, path, other: node?.kind === 'file' ? random.pick(['600', '644']) : '755' };
    }
    case 'rename':
    case 'link':
      return { name, path, other: randomPath(random, top, area) };
    case 'symlink':
      return { name, path, other: randomTarget(random, area) };
    case 'read':
    case 'list':
    case 'stat':
    case 'truncate':
    case 'unlink':
    case 'mkdir':
    case 'rmdir':
      return { name, path };
  }
}

/** Mostly what exists, sometimes a new name in it, sometimes anything. */
function randomPath(random: Random, top: ModelFolder, area: string): string {
  const known = [...allPaths(nodeAt(top, area) as ModelFolder, area)].map(([path]) => path);
  const path = random.chance(0.9)
    ? random.pick(known)
    : join(area, random.pick(['root', 'other']), random.pick(names));
  return random.chance(0.4) ? `${path}/${random.pick([...names, 'x', 'y'])}` : path;
}

function describeOperation({ name, path, other }: Operation, area: string): string {
  return [name, path, other ?? ''].join(' ').replaceAll(area, '').trim();
}

function describe(expectation: string | undefined): string {
  return expectation === undefined ? 'a refusal' : `"0 ${expectation}"`;
}

function describeTree(tree: ModelFolder): Map<string, string> {
  return new Map(
    [...allPaths(tree)].map(([path, node]) => {
      const mode = node.kind === 'link' ? '' : node.mode.toString(8);
      const content = node.kind === 'link' ? node.target : node.kind === 'file' ? node.content : '';
      return [path, `${node.kind} ${mode} ${content}`];
    }),
  );
}

function describeDisk(folder: string, at = ''): Map<string, string> {
  const found = new Map<string, string>();
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const stats = lstatSync(path);
    const mode = (stats.mode & 0o777).toString(8);
    if (stats.isSymbolicLink()) {
      found.set(`${at}/${name}`, `link  ${readlinkSync(path)}`);
    } else if (stats.isFile()) {
      found.set(`${at}/${name}`, `file ${mode} ${readFileSync(path, 'utf8')}`);
    } else {
      found.set(`${at}/${name}`, `folder ${mode} `);
      describeDisk(path, `${at}/${name}`).forEach((text, below) => found.set(below, text));
    }
  }
  return found;
}

function treeDifferences(
  expected: ReadonlyMap<string, string>,
  found: ReadonlyMap<string, string>,
): string[] {
  return [...new Set([...expected.keys(), ...found.keys()])]
    .filter((path) => expected.get(path) !== found.get(path))
    .map((path) => `afterwards ${path} is ${found.get(path)}, expected ${expected.get(path)}`);
}
