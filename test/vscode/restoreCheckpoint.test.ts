import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { ok } from '../../src/base/result.ts';
import type { PatchRequest } from '../../src/patch/patchHost.ts';
import type { Plan } from '../../src/patch/plan/plan.ts';
import { writeAccess } from '../../src/sandbox/writeAccess.ts';
import { restoreCheckpoint } from '../../src/ui/checkpoints/restoreCheckpoint.ts';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import { planMove, planOf } from '../harness/testPlan.ts';
import { rootFolder } from './callTool.ts';
import { modeOf, typeInto, usePatchSetup } from './patchSetup.ts';

describe('restoring a checkpoint', () => {
  const setup = usePatchSetup();
  const text = (path: string): Promise<string> => readFile(path, 'utf8');

  /** Restores the newest checkpoint; gives the reviews that it asked for. */
  const restoreNewest = async (roots = [rootFolder().uri.fsPath]): Promise<readonly PatchRequest[]> => {
    const { checkpoints, applier, policy } = setup();
    const [newest] = await checkpoints.list();
    assert.ok(newest);
    const reviewed: PatchRequest[] = [];
    await restoreCheckpoint(newest, {
      checkpoints,
      applier,
      places: {
        list: () => roots.map((path) => ({ name: 'root', path })),
        placeOf: async () => ok({ policy, site: undefined }),
      },
      accessUnder: (under) => writeAccess(under),
      reviews: {
        async open(request) {
          reviewed.push(request);
          return { kind: 'abandoned' };
        },
      },
    });
    return reviewed;
  };

  it('brings back contents, permissions, links, names and folders', async () => {
    const { write, path, plan, apply, applier, checkpoints } = setup();
    await write('changed', 'a\r\nb\n');
    await write('deleted', 'gone\n', 0o750);
    await symlink('changed', path('link'));
    const from = await write('from.sh', 'one\n', 0o755);
    const changes = await plan({ changed: 'A\r\nb\n', deleted: undefined, 'new/deep/file': 'new\n' });
    const move = await planMove(applier.files, from, path('other/to.sh'), 'two\n');
    const entry = { kind: 'link', target: 'changed' } as const;
    const link = { kind: 'delete', path: path('link'), name: 'link', before: { entry } } as const;
    await apply(planOf([...changes.changes, ...move.changes, link]));
    assert.equal(existsSync(path('new/deep/file')) && existsSync(path('other/to.sh')), true);
    assert.deepEqual(await restoreNewest(), []);
    assert.equal(await text(path('changed')), 'a\r\nb\n');
    assert.equal(await text(path('deleted')), 'gone\n');
    assert.equal(await modeOf(path('deleted')), 0o750);
    assert.equal(await readlink(path('link')), 'changed');
    assert.equal(await text(from), 'one\n');
    assert.equal(await modeOf(from), 0o755);
    assert.equal(existsSync(path('new')) || existsSync(path('other')), false);
    assert.deepEqual(
      (await checkpoints.list()).map(({ title }) => title),
      ['Restore of Test patch', 'Test patch'],
    );
  });

  it('is one undo step itself', async () => {
    const { write, path, plan, apply } = setup();
    await write('a', 'one\n');
    await write('b', 'two\n');
    const editor = await vscode.window.showTextDocument(vscode.Uri.file(path('a')));
    await apply(await plan({ a: 'ONE\n', b: 'TWO\n' }));
    await restoreNewest();
    assert.equal(editor.document.getText(), 'one\n');
    await vscode.commands.executeCommand('undo');
    assert.equal(editor.document.getText(), 'ONE\n');
  });

  it('merges with what was typed and not saved, and saves it', async () => {
    const { write, plan, apply } = setup();
    const path = await write('file', 'one\ntwo\nthree\n');
    await apply(await plan({ file: 'ONE\ntwo\nthree\n' }));
    await typeInto(path, [2, 0], 'typed ');
    assert.deepEqual(await restoreNewest(), []);
    assert.equal(await text(path), 'one\ntwo\ntyped three\n');
  });

  it('writes nothing when both changed the same place, and opens a review with the conflict', async () => {
    const { write, path, plan, apply } = setup();
    await write('file', 'one\ntwo\n');
    await write('other', 'x\n');
    await apply(await plan({ file: 'ONE\ntwo\n', other: 'y\n' }));
    await writeFile(path('file'), 'edited\ntwo\n');
    const [review] = await restoreNewest();
    assert.deepEqual(proposals(review?.plan), [
      ['file', '<<<<<<< now\nedited\n=======\none\n>>>>>>> before the patch\ntwo\n'],
      ['other', 'x\n'],
    ]);
    assert.equal(await text(path('file')), 'edited\ntwo\n');
    assert.equal(await text(path('other')), 'y\n');
  });

  it('writes a protected place that the person had allowed for the patch', async () => {
    const { applyReviewed } = setup();
    const root = rootFolder().uri.fsPath;
    const path = join(root, '.vscode', 'restored.json');
    const create = { kind: 'create', path, name: 'restored.json', after: Buffer.from('{}\n') } as const;
    const refusal = { path, reason: 'protected', clause: 'writableRoots', message: '', hint: '' } as const;
    await mkdir(join(root, '.vscode'), { recursive: true });
    try {
      await applyReviewed(planOf([create]), [refusal]);
      await restoreNewest();
      assert.equal(existsSync(path), false);
    } finally {
      await rm(path, { force: true });
    }
  });

  it('does not follow a link that took the place of a folder', async () => {
    const { write, path, plan, apply } = setup();
    const outside = await createTemporaryFolder('outside');
    try {
      await write('folder/file', 'one\n');
      await apply(await plan({ 'folder/file': 'two\n' }));
      await rename(path('folder'), path('was folder'));
      await writeFile(join(outside.path, 'file'), 'two\n');
      await symlink(outside.path, path('folder'));
      await restoreNewest();
      assert.equal(await text(join(outside.path, 'file')), 'two\n');
    } finally {
      await outside.dispose();
    }
  });

  it('leaves permissions alone that were changed since', async () => {
    const { write, plan, apply } = setup();
    const path = await write('file', 'one\n', 0o644);
    await apply(await plan({ file: 'two\n' }));
    await chmod(path, 0o755);
    await restoreNewest();
    assert.equal(await text(path), 'one\n');
    assert.equal(await modeOf(path), 0o755);
  });

  it('does nothing in a folder that is not open any more', async () => {
    const { write, plan, apply } = setup();
    const path = await write('file', 'one\n');
    await apply(await plan({ file: 'two\n' }));
    await restoreNewest([]);
    assert.equal(await text(path), 'two\n');
  });
});

/** Names and proposed contents. */
function proposals(plan: Plan | undefined): readonly (readonly [string, string])[] {
  return (plan?.changes ?? []).map((change) => [
    change.name,
    change.kind === 'delete' ? 'deleted' : change.after.toString(),
  ]);
}
