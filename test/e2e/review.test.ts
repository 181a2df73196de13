import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { waitFor } from '../harness/waitFor.ts';
import { assertNone, expectCount, expectText } from './expect.ts';
import { pressRowButton as press } from './harness.ts';
import type { Editor } from './harness.ts';
import { modelIsKnown, useChat } from './useChat.ts';

const reviewed = { 'cordon.patch.review': 'always', 'files.autoSave': 'off' } as const;

describe('reviewing a patch of three files', () => {
  const chat = useChat({ userSettings: reviewed });
  const at = (name: string): string => join(chat().editor.workspace, name);
  const read = (name: string): Promise<string> => readFile(at(name), 'utf8');
  let before: readonly string[];

  it('waits in tree and status bar, and opens nothing', async () => {
    const { ask, editor } = chat();
    before = await Promise.all(['src/greeting.js', 'README.md'].map(read));
    await editor.openSideBar('Cordon');
    await editor.waitForText('No patch waits for you.');
    await editor.screenshot('review-none');
    await ask(patchCall(threeFiles));
    await row(editor, /^Patch src\/greeting\.js, README\.md, notes\/today\.md, 3 files/).waitFor();
    await editor.statusBarItem('patchReviews').waitFor();
    await expectText(editor.statusBarItem('patchReviews'), '1');
    await assertNone(editor.page.locator('.editor-group-container .tab'));
    await editor.page
      .locator('.chat-editor-container .focused, .chat-editor-container.focused')
      .first()
      .waitFor();
    await editor.screenshot('review-tree');
  });

  it('shows the whole patch in one editor, with buttons for it', async () => {
    const { editor } = chat();
    await press(row(editor, /^Patch src/), 'Open Patch Review…');
    await editor.page
      .locator('.multiDiffEntry .view-line')
      .filter({ hasText: 'Good morning' })
      .first()
      .waitFor();
    await editor.page.locator('.editor-actions').getByLabel('Accept Patch').first().waitFor();
    await editor.screenshot('review-whole-patch');
  });

  it('applies what is left when one hunk is rejected, in one step back', async () => {
    const { answer, editor } = chat();
    await row(editor, /^Line 5, waiting/).click();
    await editor.page
      .locator('.editor.modified .view-line')
      .filter({ hasText: 'rejected line' })
      .first()
      .waitFor();
    await editor.screenshot('review-diff');
    await press(row(editor, /^Line 5, waiting/), 'Reject Hunk');
    await row(editor, /^Line 5, rejected/).waitFor();
    await editor.page
      .locator('.editor.modified .view-line')
      .filter({ hasText: 'rejected line' })
      .first()
      .waitFor({ state: 'detached' });
    await editor.screenshot('review-hunk-rejected');
    assert.equal(await read('README.md'), before[1]);
    await press(row(editor, /^Patch src/), 'Accept Patch');
    const text = await answer(/README\.md: applied with changes by the person/);
    assert.match(text, /-- rejected line/);
    assert.match(text, /M src\/greeting\.js/);
    assert.match(await read('src/greeting.js'), /Good morning/);
    assert.match(await read('README.md'), /^# Patched project/);
    assert.doesNotMatch(await read('README.md'), /rejected line/);
    assert.equal(await read('notes/today.md'), '# Today\n');
    await editor.statusBarItem('patchReviews').waitFor({ state: 'hidden' });
    await expectCount(editor.page.locator('.tab'), 0);

    await editor.openFile('greeting.js');
    await editor.clickInto(editor.page.locator('.editor-group-container .view-line').first());
    await editor.press('Control+z');
    await waitFor('the file to be back', async () => (await read('src/greeting.js')) === before[0]);
    await waitFor('the other file', async () => (await read('README.md')) === before[1]);
    await waitFor('the new file to go', () => !existsSync(at('notes/today.md')));
    await editor.closeAllEditors();
  });

  it('tells the model why a patch was rejected; Escape decides nothing', async () => {
    const { ask, answer, editor } = chat();
    await ask(patchCall(threeFiles));
    await press(row(editor, /^Patch src/), 'Reject Patch…');
    await editor.quickInput.waitFor();
    await editor.screenshot('review-reject');
    await editor.press('Escape');
    await row(editor, /^Patch src/).waitFor();
    await press(row(editor, /^Patch src/), 'Reject Patch…');
    await editor.answer('Greet in the evening instead.', 'What should the agent do instead?');
    await answer(/patch rejected by user\s*Comment of the person: Greet in the evening instead\./);
    assert.deepEqual(await Promise.all(['src/greeting.js', 'README.md'].map(read)), before);
  });

  it('applies what the person typed on the right side; closing the tab decides nothing', async () => {
    const { ask, answer, editor } = chat();
    await ask(patchCall(threeFiles));
    await row(editor, /^src\/greeting\.js, 1 hunk/).click();
    const line = editor.page.locator('.editor.modified .view-line').filter({ hasText: 'Good morning' });
    await editor.clickInto(line.first());
    await editor.press('End');
    await editor.type(' // typed');
    await row(editor, /^Line 2, edited, waiting/).waitFor();
    await editor.screenshot('review-edited');
    await expectCount(editor.page.locator('.tab.dirty'), 0);
    await editor.runCommand('View: Close Editor');
    await expectCount(editor.page.locator('.tab'), 0);
    await row(editor, /^Line 2, edited, waiting/).waitFor();
    assert.equal(await read('src/greeting.js'), before[0]);
    await press(row(editor, /^Patch src/), 'Accept Patch');
    await answer(/\+ {2}return `Good morning, \$\{name\}!`; \/\/ typed/);
    assert.match(await read('src/greeting.js'), /Good morning, \$\{name\}!`; \/\/ typed$/m);
  });
});

describe('a review by keys, and a reload while it waits', () => {
  const chat = useChat({ userSettings: reviewed });
  const read = (name: string): Promise<string> => readFile(join(chat().editor.workspace, name), 'utf8');

  it('goes from hunk to hunk', async () => {
    const { ask, answer, editor } = chat();
    await ask(patchCall(threeFiles.slice(0, -2)));
    await editor.statusBarItem('patchReviews').click();
    await row(editor, /^Line 1, waiting/).click();
    await editor.page.locator('.editor.modified .view-line').filter({ hasText: 'Patched' }).first().waitFor();
    await editor.press('Alt+y');
    await row(editor, /^Line 1, accepted/).waitFor();
    await editor.press('Alt+n');
    await row(editor, /^Line 5, rejected/).waitFor();
    await editor.screenshot('review-keys');
    await editor.press('Alt+j');
    await editor.page.locator('.editor.modified .view-line').filter({ hasText: 'morning' }).first().waitFor();
    await editor.press('Alt+Shift+y');
    await answer(/src\/greeting\.js: accepted/);
    assert.match(await read('README.md'), /^# Patched project/);
  });

  it('survives a reload, and the next call hears what became of it', async () => {
    const { ask, answer, editor } = chat();
    await ask(patchCall(['*** Add File: later.md', '+# Later']));
    await row(editor, /^later\.md, new/).click();
    const right = editor.page.locator('.editor.modified .view-line').filter({ hasText: '# Later' });
    await right.first().waitFor();
    await editor.reload();
    await row(editor, /^Patch later\.md, 1 file · no agent waits/).waitFor();
    await right.first().waitFor();
    await editor.screenshot('review-after-reload');
    await press(row(editor, /^Patch later\.md/), 'Accept Patch');
    await waitFor('the file', () => existsSync(join(editor.workspace, 'later.md')));
    await modelIsKnown(editor);
    await ask(patchCall(['*** Add File: next.md', '+# Next']));
    await press(row(editor, /^Patch next\.md/), 'Accept Patch');
    await answer(/Since the last call, the patch "later\.md" .* applied later\.md\./);
  });
});

const threeFiles: readonly string[] = [
  '*** Update File: src/greeting.js',
  '@@',
  '-  return `Hello, ${name}!`;',
  '+  return `Good morning, ${name}!`;',
  '*** Update File: README.md',
  '@@',
  '-# Sample project',
  '+# Patched project',
  '@@',
  ' ',
  '+- rejected line',
  ' - `Cordon: Run Sandboxed…` with `npm test` passes inside the sandbox.',
  '*** Add File: notes/today.md',
  '+# Today',
];

function patchCall(lines: readonly string[]): object {
  const patch = ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');
  return { cmd: `apply_patch <<'EOF'\n${patch}\nEOF`, login: false };
}

/** A row of the view, by what a screen reader says. */
function row(editor: Editor, label: RegExp): Locator {
  return editor.page.locator('.pane-body .monaco-list-row').and(editor.page.getByLabel(label)).first();
}
