import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { applyPlan } from '../../../src/patch/apply/applyPlan.ts';
import { createDiskFileSystem } from '../../../src/patch/files/diskFileSystem.ts';
import type { FileSystem } from '../../../src/patch/files/fileSystem.ts';
import { FileError } from '../../../src/patch/files/fileSystem.ts';
import type { PatchError } from '../../../src/patch/patchError.ts';
import type { Plan, PlannedChange } from '../../../src/patch/plan/plan.ts';
import type { WriteAccess } from '../../../src/sandbox/writeAccess.ts';
import type { TemporaryFolder } from '../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../harness/temporaryFolder.ts';
import { treeSnapshot } from '../../harness/treeSnapshot.ts';
import { cannotRunUnprivileged, nobody, runUnprivileged } from '../../harness/unprivileged.ts';
import { Planner, planOf } from './plans.ts';

const files = createDiskFileSystem();
const planner = new Planner(files);

let folder: TemporaryFolder;
function useFolder(): void {
  beforeEach(async () => void (folder = await createTemporaryFolder('transaction')));
  afterEach(() => folder.dispose());
}

const at = (...names: string[]): string => join(folder.path, ...names);
const text = (name: string): string => fs.readFileSync(at(name), 'utf8');

function put(name: string, content: string, mode = 0o644): string {
  fs.mkdirSync(dirname(at(name)), { recursive: true });
  fs.writeFileSync(at(name), content);
  fs.chmodSync(at(name), mode);
  return at(name);
}

function touch(name: string): void {
  fs.chmodSync(at(name), fs.lstatSync(at(name)).mode);
}

async function succeeds(plan: Plan, on: FileSystem = files): Promise<void> {
  const result = await applyPlan(plan, on, undefined);
  assert.ok(result.ok, result.ok ? '' : JSON.stringify(result.error));
}

async function fails(plan: Plan, on: FileSystem = files): Promise<PatchError> {
  const result = await applyPlan(plan, on, undefined);
  assert.ok(!result.ok);
  return result.error;
}

/** A bit of everything: all kinds of changes, modes, links, new folders, steps that depend on each other. */
async function sample(): Promise<Plan> {
  put('plain', 'plain');
  put('program', 'program', 0o755);
  put('shared', 'shared');
  fs.linkSync(at('shared'), at('twin'));
  put('doomed', 'doomed', 0o400);
  fs.symlinkSync('plain', at('link'));
  fs.symlinkSync('plain', at('link2'));
  put('fresh', 'fresh', 0o440);
  fs.linkSync(at('fresh'), at('old'));
  put('src/moved', 'moved', 0o700);
  put('src/edited', 'edited', 0o750);
  put('src/over', 'over');
  put('src/target', 'target', 0o600);
  put('chain/a', 'a');
  put('chain/b', 'b');
  put('gate', 'a file where a folder comes');
  return planOf(
    await planner.update(at('plain'), 'plain 2'),
    await planner.update(at('program'), 'program 2'),
    await planner.update(at('shared'), 'shared, longer than before'),
    planner.create(at('new/deep/file'), 'new'),
    planner.create(at('new/deep/second'), 'second'),
    await planner.delete(at('doomed')),
    await planner.delete(at('link')),
    { ...planner.create(at('link2'), 'no link'), mode: 0o711, replaces: { kind: 'link', target: 'plain' } },
    { ...(await planner.update(at('fresh'), 'fresh 2')), mode: 'new' },
    await planner.move(at('src/moved'), at('other/moved')),
    await planner.move(at('src/edited'), at('src/edited2'), 'edited 2'),
    await planner.move(at('src/over'), at('src/target'), undefined, true),
    await planner.move(at('chain/b'), at('chain/c')),
    await planner.move(at('chain/a'), at('chain/b'), undefined, true),
    await planner.delete(at('gate')),
    planner.create(at('gate/file'), 'behind the gate'),
  );
}

function requireSampleApplied(): void {
  const tree = Object.fromEntries(
    Object.keys(treeSnapshot(folder.path))
      .filter((name) => fs.lstatSync(at(name)).isFile() && !name.includes('.cordon-'))
      .map((name) => [name, `${text(name)} ${(fs.lstatSync(at(name)).mode & 0o777).toString(8)}`]),
  );
  const mode = (0o666 & ~process.umask()).toString(8);
  assert.deepEqual(tree, {
    plain: 'plain 2 644',
    program: 'program 2 755',
    shared: 'shared, longer than before 644',
    twin: 'shared, longer than before 644',
    link2: 'no link 711',
    fresh: `fresh 2 ${mode}`,
    old: 'fresh 440',
    'new/deep/file': `new ${mode}`,
    'new/deep/second': `second ${mode}`,
    'other/moved': 'moved 700',
    'src/edited2': 'edited 2 750',
    'src/target': 'over 644',
    'chain/c': 'b 644',
    'chain/b': 'a 644',
    'gate/file': `behind the gate ${mode}`,
  });
}

const leftovers = (): string[] =>
  Object.keys(treeSnapshot(folder.path)).filter((name) => name.includes('.cordon-'));

describe('applyPlan()', () => {
  useFolder();

  it('applies every kind of change and leaves nothing else', async () => {
    await succeeds(await sample());
    requireSampleApplied();
    assert.deepEqual(leftovers(), []);
  });

  it('applies files that were touched, because they say what they said', async () => {
    const plan = await sample();
    ['plain', 'doomed', 'src/moved', 'src/target'].forEach(touch);
    await succeeds(plan);
    requireSampleApplied();
  });

  it('applies files that are touched while it works', async () => {
    const plan = await sample();
    const touching = hooked(({ kind, index }) => {
      if (index === (kind === 'stage' ? 0 : 1)) ['plain', 'program', 'src/target'].forEach(touch);
    });
    await succeeds(plan, touching);
    requireSampleApplied();
    assert.deepEqual(leftovers(), []);
  });

  it('gives hard links of one file a change and a removal', async () => {
    put('a', 'old');
    fs.linkSync(at('a'), at('b'));
    await succeeds(planOf(await planner.delete(at('a')), await planner.update(at('b'), 'new')));
    assert.deepEqual(fs.readdirSync(folder.path), ['b']);
    assert.equal(text('b'), 'new');
  });

  it('turns a link into a file at the destination when the link is moved', async () => {
    put('target', 'content', 0o640);
    fs.symlinkSync('target', at('link'));
    const move = await planner.move(at('target'), at('moved'));
    await succeeds(planOf({ ...move, path: at('link'), sourceEntry: { kind: 'link', target: 'target' } }));
    assert.deepEqual(fs.readdirSync(folder.path), ['moved', 'target']);
    assert.deepEqual([text('moved'), fs.lstatSync(at('moved')).mode & 0o777], ['content', 0o640]);
  });

  for (const [what, surprise] of [
    ['changed', () => put('program', 'PROGRAM', 0o755)],
    ['removed', () => fs.rmSync(at('program'))],
    ['became a folder', () => (fs.rmSync(at('program')), fs.mkdirSync(at('program')))],
  ] as const) {
    it(`refuses as stale when a file ${what} since planning`, async () => {
      const plan = await sample();
      surprise();
      const before = treeSnapshot(folder.path);
      assert.deepEqual(await fails(plan), {
        kind: 'stale',
        message: `${at('program')} changed since the patch was planned`,
        path: at('program'),
        hint: 'Read it again and make the patch anew. Nothing was changed.',
      });
      assert.deepEqual(treeSnapshot(folder.path), before);
    });
  }

  it('refuses as stale when a file changes after everything was prepared', async () => {
    const plan = await sample();
    const late = hooked(({ kind, index }) => {
      if (kind === 'commit' && index === 4) put('src/target', 'changed', 0o600);
    });
    assert.equal((await fails(plan, late)).kind, 'stale');
    assert.deepEqual([text('plain'), text('src/target'), leftovers()], ['plain', 'changed', []]);
  });

  it('asks the policy once more for every path before it prepares anything', async () => {
    const plan = await sample();
    const before = treeSnapshot(folder.path);
    for (const refused of [at('src/moved'), at('other/moved'), at('gate/file')]) {
      const access: WriteAccess = (path) =>
        path === refused
          ? ({ path, reason: 'outside', clause: 'mode', message: `no ${path}`, hint: 'do not' } as const)
          : undefined;
      const untouchable = hooked(() => assert.fail('staged'));
      const result = await applyPlan(plan, untouchable, access);
      const error = { kind: 'access', message: `no ${refused}`, hint: 'do not', path: refused };
      assert.deepEqual(result, { ok: false, error });
    }
    assert.deepEqual(treeSnapshot(folder.path), before);
  });
});

describe('A plan that fails', () => {
  useFolder();

  it('leaves the tree as it was, whichever step fails', async () => {
    const plan = await sample();
    const before = treeSnapshot(folder.path);
    const runs = await failEachStep(plan, (error) => {
      assert.match(error.kind, /^io\./);
      assert.match(error.hint ?? '', /\(EIO\)\. Nothing was changed\.$/);
      assert.deepEqual(treeSnapshot(folder.path), before);
    });
    assert.ok(runs > 2 * plan.changes.length, `${runs} runs`);
    requireSampleApplied();
  });

  it('leaves the tree as it was, whichever system call fails', async () => {
    assert.ok((await failEachCall(sample, requireSampleApplied)) > 100);
  });

  it('leaves the tree as it was, whichever system call of a move to another device fails', async function () {
    const memory = '/dev/shm';
    if (!fs.existsSync(memory) || fs.statSync(memory).dev === fs.statSync(folder.path).dev) this.skip();
    const elsewhere = fs.mkdtempSync(join(memory, 'cordon-'));
    try {
      const plan = async (): Promise<Plan> => {
        const move = await planner.move(put('here', 'moved', 0o751), join(elsewhere, 'new/there'));
        return planOf(move);
      };
      const isMoved = (): void => {
        assert.equal(fs.readFileSync(join(elsewhere, 'new/there'), 'utf8'), 'moved');
        assert.ok(!fs.existsSync(at('here')));
        fs.rmSync(join(elsewhere, 'new'), { recursive: true });
      };
      const runs = await failEachCall(plan, isMoved, () => assert.deepEqual(fs.readdirSync(elsewhere), []));
      assert.ok(runs > 20);
    } finally {
      fs.rmSync(elsewhere, { recursive: true });
    }
  });

  it('restores copies where the file system has no hard links', async () => {
    const plan = await sample();
    const before = treeSnapshot(folder.path, { identities: false });
    const fault = failEvery('linkSync', 'EPERM');
    try {
      await failEachStep(plan, () =>
        assert.deepEqual(treeSnapshot(folder.path, { identities: false }), before),
      );
    } finally {
      fault.end();
    }
    requireSampleApplied();
    assert.deepEqual(leftovers(), []);
  });

  for (let seed = 1; seed <= 25; seed += 1) {
    it(`leaves a random tree as it was, whichever step fails (seed ${seed})`, async () => {
      const { plan, expected } = await randomPlan(seed);
      const before = treeSnapshot(folder.path);
      await failEachStep(plan, () => assert.deepEqual(treeSnapshot(folder.path), before));
      for (const [path, content] of expected) {
        const entry = fs.lstatSync(path, { throwIfNoEntry: false });
        assert.equal(entry && fs.readFileSync(path, 'utf8'), content, path);
      }
      assert.deepEqual(leftovers(), []);
    });
  }

  it('says what could not be put back, and where its original lies', async () => {
    put('a', 'original a');
    put('b', 'b');
    const plan = planOf(
      await planner.update(at('a'), 'new a'),
      planner.create(at('made'), 'made'),
      await planner.update(at('b'), 'new b'),
    );
    const error = await fails(
      plan,
      hooked(({ kind, index }) => {
        if (kind !== 'commit' || index !== 2) return;
        put('a', 'saved by an editor');
        put('made', 'saved by an editor');
        throw new FileError('write', at('b'), 'ENOSPC');
      }),
    );
    const hint =
      /^No space left on device \(ENOSPC\)\. Everything was changed back except: (.*)made \(ESTALE\), which was made by this patch; (.*)a \(ESTALE\), whose original is saved as (.*)\.$/;
    assert.match(error.hint ?? '', hint);
    const saved = hint.exec(error.hint ?? '')?.[3] ?? '';
    assert.deepEqual(
      [text('a'), text('b'), fs.readFileSync(saved, 'utf8')],
      ['saved by an editor', 'b', 'original a'],
    );
  });

  it('leaves the tree as it was when the disk is full', async function () {
    fs.mkdirSync(at('disk'));
    if (!tryMount('-t', 'tmpfs', '-o', 'size=64k', 'none', at('disk'))) {
      console.log('      skipped: mounting a small disk needs the rights of root');
      this.skip();
    }
    try {
      put('disk/a', 'a');
      put('disk/shared', 'shared');
      fs.linkSync(at('disk/shared'), at('disk/twin'));
      const before = treeSnapshot(at('disk'));
      const [a, big] = [await planner.update(at('disk/a'), 'a 2'), 'x'.repeat(100_000)];
      for (const change of [
        planner.create(at('disk/new/file'), big),
        await planner.update(at('disk/shared'), big),
      ]) {
        assert.deepEqual(await fails(planOf(a, change)), {
          kind: 'io.write',
          message: `Failed to write file ${change.path}`,
          path: change.path,
          hint: 'No space left on device (ENOSPC). Nothing was changed.',
        });
        assert.deepEqual(treeSnapshot(at('disk')), before);
      }
    } finally {
      execFileSync('umount', [at('disk')]);
    }
  });
});

describe('A plan that the rights of the user do not allow', function () {
  before(function () {
    if (cannotRunUnprivileged !== undefined) {
      console.log(`      skipped: ${cannotRunUnprivileged}`);
      this.skip();
    }
  });
  afterEach(() => fs.chmodSync(at('closed'), 0o755));
  useFolder();
  beforeEach(() => {
    put('file', 'old');
    put('closed/file', 'old');
    put('locked', 'old', 0o444);
    execFileSync('chown', ['-R', `${nobody}:${nobody}`, folder.path]);
    fs.chmodSync(at('closed'), 0o555);
  });

  const cases: readonly (readonly [what: string, make: string, message: string])[] = [
    ['a read-only file', `planner.update('locked', 'new')`, 'io.write Failed to write file locked'],
    ['a new file', `planner.create('closed/new', '')`, 'io.write Failed to write file closed/new'],
    [
      'new folders',
      `planner.create('closed/a/new', '')`,
      'io.mkdir Failed to create parent directories for closed/a/new',
    ],
    ['a removal', `planner.delete('closed/file')`, 'io.delete Failed to delete file closed/file'],
    [
      'a move away',
      `planner.move('closed/file', 'moved')`,
      'io.remove_original Failed to remove original closed/file',
    ],
    [
      'a move away with a change',
      `planner.move('closed/file', 'moved', 'new')`,
      'io.remove_original Failed to remove original closed/file',
    ],
    ['a move there', `planner.move('file', 'closed/new')`, 'io.write Failed to write file closed/new'],
    [
      'a move over a read-only file',
      `planner.move('file', 'locked', undefined, true)`,
      'io.write Failed to write file locked',
    ],
  ];
  for (const [what, make, message] of cases) {
    it(`fails in the reference's words and changes nothing: ${what}`, () => {
      const before = treeSnapshot(folder.path);
      const error = runUnprivileged(`
        import { createDiskFileSystem } from './src/patch/files/diskFileSystem.ts';
        import { applyPlan } from './src/patch/apply/applyPlan.ts';
        import { Planner, planOf } from './test/runtime/patch/plans.ts';
        const files = createDiskFileSystem();
        const planner = new Planner(files);
        const plan = planOf(planner.create('${at('first')}', 'x'), await ${make.replaceAll(/'(?=[a-z]+(\/|'[,)]))(?!new')/g, `'${folder.path}/`)});
        const { error } = await applyPlan(plan, files, undefined);
        console.log(JSON.stringify([error.kind + ' ' + error.message, error.hint]));`) as [string, string];
      assert.deepEqual(error, [
        message.replace(/[^ ]+$/, (name) => at(name)),
        'Permission denied (os error 13). Nothing was changed.',
      ]);
      assert.deepEqual(treeSnapshot(folder.path), before);
    });
  }
});

interface Moment {
  readonly kind: 'stage' | 'commit';
  /** Counted per kind, in the order of the calls. */
  readonly index: number;
  readonly path: string;
}

/** The disk, with something that happens right before each stage and each commit. */
function hooked(happen: (moment: Moment) => void): FileSystem {
  const counts = { stage: 0, commit: 0 };
  const next = (kind: Moment['kind'], path: string): void => happen({ kind, index: counts[kind]++, path });
  return {
    ...files,
    stage: async (change) => {
      next('stage', change.path);
      const staged = await files.stage(change);
      return {
        ...staged,
        commit: async () => {
          next('commit', change.path);
          await staged.commit();
        },
      };
    },
  };
}

/** Applies the plan again and again, the n-th step of the n-th run failing, until none is left to fail. */
async function failEachStep(plan: Plan, check: (error: PatchError) => void): Promise<number> {
  for (let run = 0; ; run += 1) {
    let steps = 0;
    const failing = hooked(({ path }) => {
      if (steps++ === run) throw new FileError('write', path, 'EIO');
    });
    const result = await applyPlan(plan, failing, undefined);
    if (result.ok) {
      assert.ok(run > 0);
      return run;
    }
    assert.ok(steps > run, `it cannot be applied at all: ${result.error.message}`);
    check(result.error);
  }
}

/**
 * Applies a plan again and again, the n-th system call of the n-th run failing, until none is left to fail. A run
 * that fails must leave the folder as it was; one that does not was only hindered in cleaning up.
 */
async function failEachCall(
  make: () => Promise<Plan>,
  requireApplied: () => void,
  requireUnapplied: () => void = () => undefined,
): Promise<number> {
  let plan = await make();
  let before = treeSnapshot(folder.path);
  for (let run = 0; ; run += 1) {
    const fault = failCall(run, 'EIO');
    const result = await applyPlan(plan, files, undefined).finally(fault.end);
    if (!result.ok) {
      assert.match(result.error.hint ?? '', /Nothing was changed\.$/, fault.name());
      assert.deepEqual(treeSnapshot(folder.path), before, `${fault.name()}, call ${run}`);
      requireUnapplied();
      continue;
    }
    requireApplied();
    if (fault.name() === undefined) {
      return run;
    }
    fs.rmSync(folder.path, { recursive: true });
    fs.mkdirSync(folder.path);
    plan = await make();
    before = treeSnapshot(folder.path);
  }
}

const calls = [
  'accessSync',
  'fchmodSync',
  'fstatSync',
  'ftruncateSync',
  'linkSync',
  'lstatSync',
  'mkdirSync',
  'openSync',
  'readFileSync',
  'readlinkSync',
  'renameSync',
  'rmdirSync',
  'unlinkSync',
  'writeFileSync',
  'writeSync',
] as const;

interface Fault {
  /** The call that failed; undefined when it did not come to that. */
  readonly name: () => string | undefined;
  readonly end: () => void;
}

/** Lets the n-th call of the file system fail, once. */
function failCall(n: number, code: string): Fault {
  let count = 0;
  return intercept(calls, () => count++ === n, code);
}

function failEvery(call: (typeof calls)[number], code: string): Fault {
  return intercept([call], () => true, code);
}

function intercept(names: readonly (typeof calls)[number][], isDue: () => boolean, code: string): Fault {
  let failed: string | undefined;
  const originals = names.map((name) => [name, fs[name]] as const);
  for (const [name, original] of originals) {
    const wrapper = (...args: readonly never[]): unknown => {
      if (isDue()) {
        failed = name;
        throw Object.assign(new Error(`injected into ${name}`), { code });
      }
      return (original as (...args: readonly never[]) => unknown)(...args);
    };
    Object.assign(fs, { [name]: wrapper });
  }
  syncBuiltinESMExports();
  return {
    name: () => failed,
    end: () => {
      Object.assign(fs, Object.fromEntries(originals));
      syncBuiltinESMExports();
    },
  };
}

/** A tree of the seed, a plan for it, and what every touched path holds afterwards. */
async function randomPlan(
  seed: number,
): Promise<{ readonly plan: Plan; readonly expected: ReadonlyMap<string, string | undefined> }> {
  const random = generator(seed);
  const changes: PlannedChange[] = [];
  const expected = new Map<string, string | undefined>();
  const pick = <T>(items: readonly [T, ...T[]]): T => items[Math.floor(random() * items.length)] ?? items[0];
  const place = (name: string): string => join(pick(['.', 'a', 'a/b', 'c', 'c/d/e']), name);
  const content = (): string => 'line\n'.repeat(Math.floor(random() * 50)) + String(random());
  const names = Array.from({ length: 4 + Math.floor(random() * 8) }, (_, index) => place(`f${index}`));
  for (const name of names) {
    // Only root may write what is read-only.
    put(name, content(), pick([0o644, 0o755, 0o600, process.getuid?.() === 0 ? 0o440 : 0o640, 0o4755]));
    if (random() < 0.3) fs.linkSync(at(name), `${at(name)}.twin`);
  }
  for (const [index, name] of names.entries()) {
    const path = at(name);
    const [after, destination] = [content(), at(place(`g${index}`))];
    const change = await pick([
      () => planner.update(path, after),
      () => planner.delete(path),
      () => planner.move(path, destination),
      () => planner.move(path, destination, after),
      () => (put(place(`g${index}`), ''), planner.update(path, after)),
      async () => {
        put(`over${index}`, 'replaced', 0o604);
        return planner.move(path, at(`over${index}`), pick([undefined, after]), true);
      },
      async () => planner.create(destination, after),
    ])();
    changes.push(change);
    expected.set(change.path, change.kind === 'move' || change.kind === 'delete' ? undefined : after);
    if (change.kind === 'move') expected.set(change.toPath, change.after.toString());
    if (change.kind === 'create') expected.set(change.path, change.after.toString());
  }
  return { plan: planOf(...changes), expected };
}

/** mulberry32: small, and the same everywhere. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function tryMount(...args: string[]): boolean {
  try {
    execFileSync('mount', args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
