import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSampleWorkspace } from '../../scripts/sampleWorkspace.mjs';
import type { TemporaryFolder } from '../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import { expectCount } from './expect.ts';
import { useChat } from './useChat.ts';

describe('patches in a workspace of two folders', () => {
  let folder: TemporaryFolder;
  const chat = useChat(async () => {
    folder = await createTemporaryFolder('patch-roots');
    for (const name of ['free', 'careful']) {
      await createSampleWorkspace(join(folder.path, name));
    }
    await mkdir(join(folder.path, 'careful', '.vscode'));
    await setReview('careful', 'always');
    const workspaceFile = join(folder.path, 'both.code-workspace');
    await writeFile(workspaceFile, JSON.stringify({ folders: [{ path: 'free' }, { path: 'careful' }] }));
    return { workspaceFile, userSettings: { 'files.autoSave': 'off' } };
  });
  after(() => folder?.dispose());

  const setReview = (root: string, value: string): Promise<void> =>
    writeFile(
      join(folder.path, root, '.vscode', 'settings.json'),
      JSON.stringify({ 'cordon.patch.review': value }),
    );
  const read = (path: string): Promise<string> => readFile(join(folder.path, path), 'utf8');
  const change = ['*** Update File: README.md', '@@', '-# Sample project', '+# Patched'];

  it('need the name of the folder while none is active', async () => {
    const { patch, answer } = chat();
    await patch(...change);
    assert.match(await answer(/workdir is required/), /one of: free .*careful/);
  });

  it('are applied where nothing asks for a review, and wait where the folder does', async () => {
    const { patchIn, answer, editor } = chat();
    await patchIn('free', ...change);
    await answer('M README.md');
    assert.match(await read('free/README.md'), /^# Patched/);

    await patchIn('careful', ...change);
    await editor.statusBarItem('patchReviews').waitFor();
    assert.match(await read('careful/README.md'), /^# Sample project/);
    await editor.runCommand('Cordon: Accept Patch');
    await answer('M README.md');
    assert.match(await read('careful/README.md'), /^# Patched/);
  });

  it('that lead into the other folder are outside of their own, and wait', async () => {
    const { patchIn, answer, editor } = chat();
    const lines = ['*** Add File: inside.md', '+in', '*** Add File: ../careful/outside.md', '+out'];
    await patchIn('free', ...lines);
    await editor.statusBarItem('patchReviews').waitFor();
    await editor.runCommand('Cordon: Focus on Checkpoints View');
    const row = editor.page.locator('.pane-body .monaco-list-row').filter({ hasText: 'outside.md' });
    await row.last().waitFor();
    await editor.page.getByLabel(/^Patch inside\.md.*, free · 2 files/).waitFor();
    await expectCount(editor.page.getByLabel(/^Checkpoint before careful · README\.md/), 1);
    await editor.screenshot('review-outside');
    await editor.runCommand('Cordon: Reject Patch…');
    await editor.answer('Stay in your folder.', /What should the agent do instead/);
    await answer(/patch rejected by user\s*Comment of the person: Stay in your folder\./);
    assert.equal(existsSync(join(folder.path, 'free', 'inside.md')), false);
    assert.equal(existsSync(join(folder.path, 'careful', 'outside.md')), false);
  });

  it('are not let through by a folder that asks for less than the person', async () => {
    const { patchIn, answer, editor } = chat();
    await setReview('careful', 'never');
    await patchIn('careful', '*** Add File: ../beside.md', '+x');
    await editor.statusBarItem('patchReviews').waitFor();
    await editor.runCommand('Cordon: Reject Patch…');
    await editor.answer('', /What should the agent do instead/);
    await answer('patch rejected by user');
    assert.equal(existsSync(join(folder.path, 'beside.md')), false);
  });
});
