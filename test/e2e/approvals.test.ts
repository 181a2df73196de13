import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { createSampleWorkspace } from '../../scripts/sampleWorkspace.mjs';
import type { TemporaryFolder } from '../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import { assertNone, expectCount, expectText } from './expect.ts';
import type { Editor } from './harness.ts';
import { pressRowButton } from './harness.ts';
import { modelIsKnown, useChat } from './useChat.ts';

describe('a command that is asked about before it runs', () => {
  const chat = useChat({ userSettings: { 'cordon.approvals.policy': 'untrusted' } });
  const made = (): boolean => existsSync(join(chat().editor.workspace, 'made'));

  it('does not run when it is skipped', async () => {
    const { ask, answer, card, skip, editor } = chat();
    await ask({ cmd: 'touch made', login: false });
    await card.getByText('Run this command?').first().waitFor();
    await editor.screenshot('approval-card');
    await skip();
    await answer('The user chose to skip the tool call');
    assert.equal(made(), false);
  });

  it('runs when it is allowed, in the sandbox', async () => {
    const { ask, answer, allowOnce } = chat();
    await ask({ cmd: 'touch made && echo "[$CORDON_SANDBOX]"', login: false });
    await allowOnce();
    await answer(/Process exited with code 0[^]*\[workspace-write\]/);
    assert.equal(made(), true);
  });

  it('just runs when it is known to be harmless', async () => {
    const { ask, answer, card } = chat();
    await ask({ cmd: 'ls && pwd', login: false });
    await answer(/Process exited with code 0[^]*made/);
    await assertNone(card);
  });
});

describe('a question outside of the card', () => {
  let outside: TemporaryFolder;
  const chat = useChat(async () => {
    outside = await createTemporaryFolder('outside');
    return {
      userSettings: {
        'cordon.approvals.policy': 'on-failure',
        'cordon.sandbox.files': { [outside.path]: 'read' },
      },
    };
  });
  after(() => outside?.dispose());
  const target = (name: string): string => join(outside.path, name);
  const touch = (name: string): object => ({ cmd: `touch ${target(name)} && echo it worked`, login: false });

  it('is a notification, a row and a number in the status bar, and takes no focus', async () => {
    const { ask, editor } = chat();
    await editor.openSideBar('Cordon');
    await editor.waitForText('No question waits for you.');
    await ask(touch('one'));
    await editor.notification(/Allow this, and run again\? “touch .*one/);
    await question(editor, 'one')
      .filter({ hasText: /min left.*touch/ })
      .waitFor();
    await expectText(editor.statusBarItem('approvals'), '1');
    await editor.page
      .locator('.chat-editor-container .focused, .chat-editor-container.focused')
      .first()
      .waitFor();
    await editor.screenshot('approval-asked');
  });

  it('is answered by keys, and the model hears that it ran again', async () => {
    const { answer, editor } = chat();
    await editor.runCommand('Cordon: Answer Approval…');
    await editor.quickInput.getByText('Deny with a Comment…').waitFor();
    await editor.screenshot('approval-answers');
    await editor.pick('Show the Whole Question');
    await editor.page
      .locator('.editor-instance .view-line')
      .filter({ hasText: /touch.*one/ })
      .first()
      .waitFor();
    await editor.screenshot('approval-page');
    await editor.closeAllEditors();
    await editor.runCommand('Cordon: Answer Approval…');
    await editor.pick('Allow and Run Again Once');
    const text = await answer('it worked');
    assert.match(text, /was stopped: .*one/);
    assert.ok(existsSync(target('one')));
    await question(editor, 'one').waitFor({ state: 'detached' });
    await editor.statusBarItem('approvals').waitFor({ state: 'hidden' });
  });

  it('is answered by the buttons of its notification; once only', async () => {
    const { ask, answer, editor } = chat();
    await clearNotifications(editor);
    await ask(touch('two'));
    const asked = await editor.notification(/“touch .*two/);
    await pressRowButton(question(editor, 'two'), 'Deny');
    await question(editor, 'two').waitFor({ state: 'detached' });
    await asked.getByRole('button', { name: 'Allow and Run Again Once' }).click();
    await editor.notification('That question does not wait any more');
    await answer(/Process exited with code 1/);
    assert.equal(existsSync(target('two')), false);
    await clearNotifications(editor);

    await ask(touch('three'));
    const again = await editor.notification(/“touch .*three/);
    await again.getByRole('button', { name: 'Allow and Run Again Once' }).click();
    await answer('it worked');
    assert.ok(existsSync(target('three')));
  });

  it('is there after a reload, and its answer is for the next call that asks the same', async () => {
    const { ask, answer, editor } = chat();
    await ask(touch('four'));
    await question(editor, 'four').waitFor();
    await editor.reload();
    await modelIsKnown(editor);
    await editor.openSideBar('Cordon');
    const row = question(editor, 'four').filter({ hasText: 'from before the reload' });
    await row.waitFor();
    await editor.screenshot('approval-interrupted');
    await row.click();
    await editor.quickInput.getByText('sample-project, from before the reload').waitFor();
    await editor.pick('Allow and Run Again Once');
    await editor.notification('Your answer counts for the next one');
    await row.waitFor({ state: 'detached' });
    assert.equal(existsSync(target('four')), false);

    await ask(touch('four'));
    await answer('it worked');
    assert.ok(existsSync(target('four')));
    await assertNone(question(editor, 'four'));
  });
});

describe('two folders with policies of their own', () => {
  let folder: TemporaryFolder;
  const chat = useChat(async () => {
    folder = await createTemporaryFolder('approval-roots');
    for (const name of ['free', 'careful']) {
      await createSampleWorkspace(join(folder.path, name));
    }
    await mkdir(join(folder.path, 'careful', '.vscode'));
    await writeFile(
      join(folder.path, 'careful', '.vscode', 'settings.json'),
      JSON.stringify({ 'cordon.approvals.policy': 'untrusted', 'cordon.sandbox.mode': 'read-only' }),
    );
    const workspaceFile = join(folder.path, 'both.code-workspace');
    await writeFile(workspaceFile, JSON.stringify({ folders: [{ path: 'free' }, { path: 'careful' }] }));
    return { workspaceFile };
  });
  after(() => folder?.dispose());
  const touch = (workdir: string): object => ({ cmd: 'touch made', workdir, login: false });

  it('ask and confine as each says', async () => {
    const { ask, answer, card, allowOnce, editor } = chat();
    await editor.openSideBar('Cordon');
    await ask(touch('free'));
    await answer(/Process exited with code 0/);
    await assertNone(card);
    assert.ok(existsSync(join(folder.path, 'free', 'made')));

    await ask(touch('careful'));
    await card.getByText('Run this command?').first().waitFor();
    await allowOnce();
    await answer(/Process exited with code 1/);
    assert.equal(existsSync(join(folder.path, 'careful', 'made')), false);
  });

  it('offer no grant where the workspace is stricter', async () => {
    const { editor } = chat();
    const row = editor.page.locator('.pane-body .monaco-list-row[aria-label^="Denied: "]');
    await row.filter({ hasText: /careful/ }).click();
    await editor.page
      .locator('.pane-body .monaco-list-row[aria-level="2"]')
      .filter({ hasText: 'narrowed by the workspace' })
      .waitFor();
    await editor.screenshot('denial-two-roots');
  });
});

/** Whatever lies under the mouse stays, and would be in the way. */
async function clearNotifications({ page, runCommand }: Editor): Promise<void> {
  await runCommand('Notifications: Clear All Notifications');
  await expectCount(page.locator('.notification-toast'), 0);
}

/** The row of the question about a command. */
function question({ page }: Editor, name: string): Locator {
  return page
    .locator('.pane-body .monaco-list-row')
    .filter({ hasText: / left|from before the reload/ })
    .filter({ hasText: name });
}
