import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { applyPlan } from '../../src/patch/apply/applyPlan.ts';
import { createDiskFileSystem } from '../../src/patch/files/diskFileSystem.ts';
import type { FileSystem } from '../../src/patch/files/fileSystem.ts';
import type { OpenFolder } from '../../src/patch/files/folder.ts';
import { openByDescriptor, openByName } from '../../src/patch/files/folder.ts';
import type { PatchErrorKind } from '../../src/patch/patchError.ts';
import type { Plan } from '../../src/patch/plan/plan.ts';
import { writeAccess } from '../../src/sandbox/writeAccess.ts';
import { Planner, planOf } from '../runtime/patch/plans.ts';
import { Arena } from './harness.ts';

/** A folder used by its name, whatever it leads to. */
const unchecked: OpenFolder = (path) => ({ at: (name) => join(path, name), close: () => undefined });

const planner = new Planner(createDiskFileSystem());

let arena: Arena;
function useArena(): void {
  beforeEach(() => void (arena = new Arena()));
  afterEach(() => arena.dispose());
}

const inside = (...names: string[]): string => join(arena.root, ...names);
const outside = (...names: string[]): string => join(arena.outside, ...names);

function put(path: string, text: string): string {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** Applies with the policy of the arena; gives the kind of the error, or `applied`. */
async function apply(plan: Plan, files: FileSystem): Promise<PatchErrorKind | 'applied'> {
  const result = await applyPlan(plan, files, writeAccess(arena.policy()));
  return result.ok ? 'applied' : result.error.kind;
}

describe('A patch cannot be led out of its root by a folder that becomes a link', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });
  useArena();

  /** Puts a link to a folder outside, which looks the same, in the place of a folder of the root. */
  const swap = (): void => {
    mkdirSync(outside('sub'), { recursive: true });
    renameSync(inside('above'), inside('aside'));
    symlinkSync(arena.outside, inside('above'));
  };
  const attack = async (): Promise<Plan> => {
    put(inside('above/sub/there'), '');
    return planOf(planner.create(inside('above/sub/evil'), 'evil'));
  };

  it('between planning and applying', async () => {
    const plan = await attack();
    swap();
    for (const open of [openByDescriptor, openByName]) {
      assert.equal(await apply(plan, createDiskFileSystem(open)), 'stale');
    }
    assert.ok(!existsSync(outside('sub/evil')));
    assert.equal(await apply(plan, createDiskFileSystem(unchecked)), 'applied');
    assert.ok(existsSync(outside('sub/evil')));
  });

  it('between preparing and making the change', async () => {
    const plan = await attack();
    const files = createDiskFileSystem();
    const swapping: FileSystem = {
      ...files,
      stage: async (change) => {
        const staged = await files.stage(change);
        swap();
        return staged;
      },
    };
    assert.equal(await apply(plan, swapping), 'stale');
    assert.ok(!existsSync(outside('sub/evil')));
  });

  it('between the check and the calls that follow it', async () => {
    /** The attacker acts the moment after the folder was found to be the right one. */
    const racing = (open: OpenFolder): OpenFolder => {
      let isDue = true;
      return (path) => {
        const folder = open(path);
        if (isDue) swap();
        isDue = false;
        return folder;
      };
    };
    const plan = await attack();
    assert.equal(await apply(plan, createDiskFileSystem(racing(openByDescriptor))), 'stale');
    assert.deepEqual(readdirSync(arena.outside, { recursive: true }), ['sub']);
    renameSync(inside('above'), inside('link'));
    renameSync(inside('aside'), inside('above'));
    const leaked: unknown[] = [];
    const byName = racing((path) => ({
      ...openByName(path),
      close: () => leaked.push(...readdirSync(arena.outside, { recursive: true })),
    }));
    // The name is checked once more before the commit, but the content has been outside.
    assert.equal(await apply(plan, createDiskFileSystem(byName)), 'stale');
    assert.match(leaked.join(), /sub\/\.evil\.cordon-/);
  });

  it('by removing and renaming, too', async () => {
    put(outside('sub/there'), 'victim');
    put(inside('above/sub/there'), 'victim');
    put(inside('file'), 'file');
    const plans = [
      planOf(await planner.delete(inside('above/sub/there'))),
      planOf(await planner.move(inside('file'), inside('above/sub/new'))),
      planOf(await planner.move(inside('above/sub/there'), inside('taken'))),
    ];
    swap();
    for (const plan of plans) {
      assert.equal(await apply(plan, createDiskFileSystem()), 'stale');
    }
    assert.equal(readFileSync(outside('sub/there'), 'utf8'), 'victim');
    assert.ok(!existsSync(outside('sub/new')) && !existsSync(inside('taken')));
    assert.equal(await apply(plans[1] ?? planOf(), createDiskFileSystem(unchecked)), 'applied');
    assert.ok(existsSync(outside('sub/new')));
  });
});

describe('A patch cannot be led out of its root by a file that becomes a link', () => {
  useArena();

  const swap = (): void => {
    renameSync(inside('file'), inside('aside'));
    symlinkSync(outside('victim'), inside('file'));
  };
  /** Writes as the reference does: to wherever the name leads. */
  const following: FileSystem = {
    ...createDiskFileSystem(),
    stage: async (change) => ({
      commit: async () => writeFileSync(change.path, change.kind === 'write' ? change.bytes : ''),
      revert: async () => undefined,
      release: async () => undefined,
    }),
  };

  for (const [what, prepare] of [
    ['a plain file', () => undefined],
    ['a file with hard links, which is written in place', () => linkSync(inside('file'), inside('hard'))],
  ] as const) {
    it(`before and after it was prepared: ${what}`, async () => {
      put(outside('victim'), 'text');
      put(inside('file'), 'text');
      prepare();
      const plan = planOf(await planner.update(inside('file'), 'evil'));
      const files = createDiskFileSystem();
      const swapping: FileSystem = {
        ...files,
        stage: async (change) => {
          const staged = await files.stage(change);
          swap();
          return staged;
        },
      };
      assert.equal(await apply(plan, swapping), 'stale');
      assert.equal(await apply(plan, files), 'stale');
      assert.equal(readFileSync(outside('victim'), 'utf8'), 'text');
      assert.equal(await apply(plan, following), 'applied');
      assert.equal(readFileSync(outside('victim'), 'utf8'), 'evil');
    });
  }

  it('when there was nothing and a dangling link came', async () => {
    const plan = planOf(planner.create(inside('file'), 'evil'));
    symlinkSync(outside('new'), inside('file'));
    assert.equal(await apply(plan, createDiskFileSystem()), 'stale');
    assert.ok(!existsSync(outside('new')));
    assert.equal(await apply(plan, following), 'applied');
    assert.ok(existsSync(outside('new')));
  });
});

describe('A patch cannot write where the policy does not let commands write', () => {
  useArena();

  const targets: readonly (readonly [what: string, path: () => string, prepare?: () => void])[] = [
    ['a hook', () => inside('.git/hooks/x')],
    ['a hook in other case', () => inside('.GIT/hooks/x')],
    ['the settings of the editor', () => inside('.vscode/settings.json')],
    ['a file outside', () => outside('x')],
    [
      'what a link in the place of the settings leads to',
      () => inside('plain/settings.json'),
      () => symlinkSync('plain', inside('.vscode')),
    ],
    [
      'a hook of the repository behind a pointer file',
      () => inside('repository/hooks/x'),
      () => {
        execFileSync('git', ['init', '-q', '--separate-git-dir', inside('repository'), arena.root]);
      },
    ],
    ['the pointer file', () => inside('.git')],
  ];
  for (const [what, path, prepare] of targets) {
    it(`such as ${what}`, async () => {
      prepare?.();
      put(inside('source'), 'evil');
      const plans = [
        planOf(planner.create(path(), 'evil')),
        planOf(await planner.move(inside('source'), path())),
      ];
      const [create = planOf()] = plans;
      for (const plan of plans) {
        assert.equal(await apply(plan, createDiskFileSystem()), 'access');
      }
      assert.ok(!existsSync(path()));
      const result = await applyPlan(create, createDiskFileSystem(), undefined);
      assert.ok(result.ok);
      assert.equal(readFileSync(path(), 'utf8'), 'evil');
    });
  }
});
