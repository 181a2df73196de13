import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { waitFor } from '../harness/waitFor.ts';
import { expectCount } from './expect.ts';
import { isDone, momentMs, pickInMenu, pressRowButton } from './harness.ts';
import type { Editor } from './harness.ts';
import { useChat } from './useChat.ts';

describe('checkpoints', () => {
  const chat = useChat({ userSettings: { 'files.autoSave': 'off' } });
  let before: string;

  const at = (name: string): string => join(chat().editor.workspace, name);
  const read = (name: string): Promise<string> => readFile(at(name), 'utf8');

  it('appear in their own view when a patch of an agent was applied', async () => {
    const { ask, answer, editor } = chat();
    before = await read('src/greeting.js');
    await editor.runCommand('Cordon: Focus on Checkpoints View');
    await editor.waitForText('Before a patch is applied, Cordon keeps what the files were.');
    await editor.screenshot('checkpoints-none');
    const patch = [
      '*** Begin Patch',
      '*** Update File: src/greeting.js',
      '@@',
      ' export function greeting(name) {',
      '-  return `Hello, ${name}!`;',
      '+  return `Good morning, ${name}!`;',
      ' }',
      '*** Add File: notes/today.md',
      '+# Today',
      '*** Delete File: README.md',
      '*** End Patch',
    ];
    await ask({ cmd: `apply_patch <<'EOF'\n${patch.join('\n')}\nEOF`, login: false });
    await answer(/M src\/greeting\.js/);
    assert.match(await read('src/greeting.js'), /Good morning/);
    assert.equal(existsSync(at('README.md')), false);
    const row = await checkpointRow(editor);
    await row.click();
    await editor.press('ArrowRight');
    await fileRow(editor, 'today.md').waitFor();
    await editor.screenshot('checkpoints');
  });

  it('show what the patch changed, in one editor', async () => {
    const { editor } = chat();
    await chooseInMenu(editor, await checkpointRow(editor), 'Show Changes');
    const changed = editor.page.locator('.multiDiffEntry .view-line').filter({ hasText: 'Good morning' });
    await changed.first().waitFor();
    await editor.screenshot('checkpoint-changes');
    await editor.closeAllEditors();
  });

  it('restore everything after a reload of the window', async () => {
    const { editor } = chat();
    await editor.reload();
    const row = await checkpointRow(editor);
    await pressRowButton(row, 'Restore Checkpoint…');
    await waitFor('the files to be back', async () => (await read('src/greeting.js')) === before);
    await waitFor('the deleted file', () => existsSync(at('README.md')));
    await waitFor('the made folder to go', () => !existsSync(at('notes')));
    await expectCount(rows(editor), 2);
    await editor.screenshot('checkpoint-restored');
  });

  it('restore a file that was edited since, with what was edited', async () => {
    const { editor } = chat();
    await writeFile(at('src/greeting.js'), `// edited since\n${before}`);
    // The restore has a checkpoint of its own: taking it back applies the patch again.
    await editor.runCommand('Cordon: Restore Checkpoint…');
    await editor.pick(/^Restore of/);
    await editor.notification(/Edited since, and merged: .*greeting\.js/);
    await waitFor('the merge', async () => (await read('src/greeting.js')).includes('Good morning'));
    assert.match(await read('src/greeting.js'), /^\/\/ edited since\n/);
    await editor.screenshot('checkpoint-merged');
  });

  it('overwrite nothing when the same place was edited since', async () => {
    const { editor } = chat();
    const edited = (await read('src/greeting.js')).replace('Good morning', 'Good night');
    await writeFile(at('src/greeting.js'), edited);
    await editor.runCommand('Cordon: Restore Checkpoint…');
    await editor.pick(/^Restore of/);
    await editor.notification(/Nothing was restored yet: src\/greeting\.js was edited in the same places/);
    await editor.page
      .locator('.pane-body')
      .getByLabel(/^Patch Restore of/)
      .first()
      .waitFor();
    assert.equal(await read('src/greeting.js'), edited);
    await editor.screenshot('checkpoint-conflict');
  });

  it('go away one by one, after a question', async () => {
    const { editor } = chat();
    await expectCount(rows(editor), 3);
    await chooseInMenu(editor, rows(editor).first(), 'Delete Checkpoint');
    await editor.page.locator('.monaco-dialog-box').getByRole('button', { name: 'Delete' }).click();
    await expectCount(rows(editor), 2);
  });
});

/** The rows of the tree that are checkpoints, newest first. */
function rows(editor: Editor): Locator {
  return editor.page.locator('.pane-body .monaco-list-row[aria-label^="Checkpoint before"]');
}

async function checkpointRow(editor: Editor): Promise<Locator> {
  const row = rows(editor).last();
  await row.waitFor();
  return row;
}

function fileRow(editor: Editor, name: string): Locator {
  return editor.page
    .locator('.pane-body .monaco-list-row[aria-level="2"][aria-label*="by the patch"]')
    .filter({ hasText: name });
}

/** Opens the menu of a row and picks an entry, all by keys. */
async function chooseInMenu(editor: Editor, row: Locator, entry: string): Promise<void> {
  await waitFor('the menu of the row', async () => {
    await row.click();
    await editor.press('Shift+F10');
    return isDone(editor.page.locator('.monaco-menu').waitFor({ timeout: momentMs }));
  });
  await pickInMenu(editor, entry);
}
