import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { fail, ok } from '../../src/base/result.ts';
import type { PatchError } from '../../src/patch/patchError.ts';
import type { PatchRequest } from '../../src/patch/patchHost.ts';
import type { PatchSite, SiteChange } from '../../src/patch/patchSite.ts';
import { planFromContents } from '../../src/patch/plan/planFromContents.ts';
import type { Root } from '../../src/runtime/roots.ts';
import { restoreCheckpoint } from '../../src/ui/checkpoints/restoreCheckpoint.ts';
import { readOnlyFiles } from '../harness/memoryFiles.ts';
import { rootFolder } from './callTool.ts';
import { usePatchSetup } from './patchSetup.ts';

describe('the checkpoint of a patch for another machine', () => {
  const setup = usePatchSetup();
  const folder = (): string => rootFolder().uri.fsPath;
  let applied: SiteChange[];
  let problem: PatchError | undefined;
  let path: string;
  let site: PatchSite;
  let there: Map<string, Buffer>;
  let reviewed: PatchRequest[];

  beforeEach(async () => {
    applied = [];
    problem = undefined;
    reviewed = [];
    // The path of a file here, too.
    path = await setup().write('a.txt', 'of this machine\n');
    there = new Map([[path, Buffer.from('before\n')]]);
    site = {
      environment: 'build',
      folder: folder(),
      plan: () => assert.fail('it is planned already'),
      look: async () => ok({ files: readOnlyFiles(there), missingFolders: ['/there/new'], refusals: [] }),
      async apply(change) {
        applied.push(change);
        there.set(path, Buffer.from('after\n'));
        return problem === undefined ? ok(undefined) : fail(problem);
      },
      completeRestore: async () => ok([]),
    };
  });

  const apply = () => {
    const before = {
      entry: { kind: 'file', mode: 0o644, size: 7, version: '1' },
      bytes: Buffer.from('before\n'),
    } as const;
    const plan = planFromContents([{ path, name: 'a.txt', before, after: Buffer.from('after\n') }]);
    const { policy, applier } = setup();
    return applier.apply({ title: 'build: a.txt', cwd: folder(), policy, site, plan, refusals: [] });
  };

  const restore = async (environment: string | undefined): Promise<void> => {
    const { checkpoints, applier, policy } = setup();
    const [checkpoint] = await checkpoints.list();
    assert.ok(checkpoint);
    const root: Root = { name: 'root', path: folder(), ...(environment !== undefined && { environment }) };
    await restoreCheckpoint(checkpoint, {
      ...{ checkpoints, applier },
      places: {
        list: () => [root],
        placeOf: async (of) => ok({ policy, site: of.environment === 'build' ? site : undefined }),
      },
      accessUnder: () => assert.fail('nobody here judges'),
      reviews: {
        async open(request) {
          reviewed.push(request);
          return { kind: 'abandoned' };
        },
      },
    });
  };

  it('is restored there, and nothing here is touched', async () => {
    assert.ok((await apply()).ok);
    const [checkpoint] = await setup().checkpoints.list();
    assert.deepEqual(checkpoint?.machine, { environment: 'build', folder: folder() });
    assert.deepEqual(checkpoint.newFolders, ['/there/new']);
    await restore('build');
    assert.equal(applied.length, 2);
    const [change] = applied[1]?.plan.changes ?? [];
    assert.equal(change?.kind === 'update' && change.after.toString(), 'before\n');
    assert.equal(await readFile(path, 'utf8'), 'of this machine\n');
    assert.deepEqual(
      (await setup().checkpoints.list()).map(({ title }) => title),
      ['Restore of build: a.txt', 'build: a.txt'],
    );
  });

  it('is shown as a conflict of that machine when the same lines changed there since', async () => {
    await apply();
    there.set(path, Buffer.from('edited\n'));
    await restore('build');
    assert.equal(applied.length, 1);
    assert.equal(reviewed[0]?.site, site);
    const [change] = reviewed[0]?.plan.changes ?? [];
    assert.match((change?.kind === 'update' && change.after.toString()) || '', /^<<<<<<< now\nedited\n/);
  });

  it('is restored nowhere else', async () => {
    await apply();
    await restore(undefined);
    await restore('other');
    assert.equal(applied.length, 1);
    assert.equal(await readFile(path, 'utf8'), 'of this machine\n');
  });

  it('goes when nothing was changed there, and stays when nobody knows', async () => {
    problem = { kind: 'stale', message: 'it changed' };
    assert.equal((await apply()).ok, false);
    assert.deepEqual(await setup().checkpoints.list(), []);
    problem = { kind: 'lost', message: 'the connection broke' };
    assert.equal((await apply()).ok, false);
    assert.equal((await setup().checkpoints.list()).length, 1);
  });
});
