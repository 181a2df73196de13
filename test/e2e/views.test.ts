import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { createSampleWorkspace } from '../../scripts/sampleWorkspace.mjs';
import type { TemporaryFolder } from '../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import { waitFor } from '../harness/waitFor.ts';
import { expectCount } from './expect.ts';
import type { Editor } from './harness.ts';
import { isDone, momentMs, pickInMenu, pressRowButton, useEditor } from './harness.ts';

describe('the view of the policy', () => {
  const editor = useEditor();

  it('is walked with keys, clause by clause, each with whose word it is', async () => {
    const { screenshot } = editor();
    await focusView(editor(), 'Policy');
    await walkTo(editor(), 'Sandbox of sample-project, Workspace write, network off');
    for (const clause of ['Mode, Workspace write, default', 'Files, ', 'Git, Commands of git, default']) {
      await walkTo(editor(), clause);
    }
    await walkTo(editor(), 'Approvals, On request, default');
    await screenshot('policy-view');
  });

  it('changes a clause where the status bar does, and follows', async () => {
    const { press, pick, quickInput, statusBarItem, screenshot } = editor();
    await walkTo(editor(), 'Network, off, default');
    await press('F2');
    await quickInput.getByText('Network limited to allowed hosts').waitFor();
    await pick('Network limited to allowed hosts');
    await statusBarItem('sandbox').getByText('Workspace write · network limited').waitFor();
    await focusView(editor(), 'Policy');
    await walkTo(editor(), 'Network, limited to no host, your choice here');
    await screenshot('policy-view-changed');
  });

  it('shows the parts of a clause, and leads to its setting', async () => {
    const { press, page, screenshot } = editor();
    await focusView(editor(), 'Policy');
    await walkTo(editor(), 'Limits, ');
    await press('ArrowRight');
    await walkTo(editor(), 'Processes and threads, 4096');
    await screenshot('policy-view-limits');
    await press('F2');
    await page
      .locator('.settings-editor .setting-item-contents')
      .filter({ hasText: 'Limits: Processes' })
      .first()
      .waitFor();
    await screenshot('policy-view-setting');
  });
});

describe('the view of the policies of two folders', () => {
  let folder: TemporaryFolder;
  const editor = useEditor(async () => {
    folder = await createTemporaryFolder('policy-roots');
    for (const name of ['free', 'careful']) {
      await createSampleWorkspace(join(folder.path, name));
    }
    await mkdir(join(folder.path, 'careful', '.vscode'));
    await writeFile(
      join(folder.path, 'careful', '.vscode', 'settings.json'),
      JSON.stringify({ 'cordon.sandbox.git': 'read-only' }),
    );
    const workspaceFile = join(folder.path, 'both.code-workspace');
    await writeFile(workspaceFile, JSON.stringify({ folders: [{ path: 'free' }, { path: 'careful' }] }));
    return { workspaceFile };
  });
  after(() => folder?.dispose());

  it('has one item per folder, and says who narrows', async () => {
    const { press, notification, page, screenshot } = editor();
    await focusView(editor(), 'Policy');
    await walkTo(editor(), 'Git, Commands of git, default');
    await walkTo(editor(), 'Sandbox of careful, ');
    await press('ArrowRight');
    await walkTo(editor(), 'Git, Read only, narrowed by the workspace');
    await screenshot('policy-view-roots');
    await press('F2');
    const toast = await notification('The settings of the workspace itself are stricter than yours here');
    await toast.getByRole('button', { name: 'Open Workspace Settings' }).click();
    await page.locator('.tab.active').filter({ hasText: 'settings.json' }).waitFor();
    await page.locator('.view-line').filter({ hasText: 'cordon.sandbox.git' }).first().waitFor();
  });

  it('changes the sandbox of the folder whose button was pressed', async () => {
    const { pick, press } = editor();
    await focusView(editor(), 'Policy');
    await press('Home');
    await pressRowButton(row(editor(), 'Sandbox of free, '), 'Change Sandbox Mode…');
    await pick('Read only');
    await row(editor(), 'Sandbox of free, Read only, network off').waitFor();
    await focusView(editor(), 'Policy');
    await walkTo(editor(), 'Sandbox of careful, Workspace write, network off');
  });
});

describe('the view of the sessions', () => {
  const editor = useEditor();

  it('is empty at first, with a way to run something', async () => {
    const { openSideBar, waitForText, page, answer, waitForTerminal, screenshot } = editor();
    await openSideBar('Cordon');
    await waitForText('Nothing has run in this window yet.');
    await screenshot('sessions-none');
    await page.locator('.pane-body').getByRole('button', { name: 'Run Sandboxed…' }).click();
    await answer('echo started; sleep 600');
    await waitForTerminal('started');
    await row(editor(), 'echo started; sleep 600, running').waitFor();
    await screenshot('sessions-running');
  });

  it('kills what runs from its row', async () => {
    const { screenshot } = editor();
    await pressRowButton(row(editor(), 'echo started; sleep 600, running'), 'Kill Session…');
    await row(editor(), 'echo started; sleep 600, exited with 143').waitFor();
    await screenshot('sessions-ended');
  });

  it('shows the output of what has ended, and copies its command', async () => {
    const { press, runCommand, terminalText, waitForTerminal } = editor();
    await runCommand('Terminal: Kill the Active Terminal Instance');
    await waitFor('the terminal to go', async () => (await terminalText()) === '');
    await focusView(editor(), 'Sessions');
    await walkTo(editor(), 'echo started; sleep 600, exited with 143');
    await press('Enter');
    await waitForTerminal('started');
    await focusView(editor(), 'Sessions');
    await walkTo(editor(), 'echo started; sleep 600, exited with 143');
    await chooseInMenu(editor(), 'Copy Command');
    await runCommand('Cordon: Run Sandboxed…');
    await waitFor('the command in the input box', async () => {
      await press('Control+a', 'Control+v');
      return (await editor().quickInput.locator('input').inputValue()) === 'echo started; sleep 600';
    });
    await press('Escape');
  });
});

describe('a grant in the view of the policy', () => {
  let outside: TemporaryFolder;
  const editor = useEditor(async () => {
    outside = await createTemporaryFolder('outside');
    return { userSettings: { 'cordon.sandbox.files': { [outside.path]: 'read' } } };
  });
  after(() => outside?.dispose());

  it('is given for what a session was denied, whose row leads to the denial', async () => {
    const { runCommand, answer, notification, pick, page, screenshot } = editor();
    const commandLine = `touch ${outside.path}/made`;
    await runCommand('Cordon: Run Sandboxed…');
    await answer(commandLine);
    const toast = await notification(outside.path);
    await focusView(editor(), 'Sessions');
    await walkTo(editor(), `${commandLine}, exited with 1`);
    await screenshot('sessions-denied');
    await chooseInMenu(editor(), 'Show Its Denials');
    await listOf(page, 'Denials').and(page.locator(':focus')).waitFor();
    await toast.getByRole('button', { name: 'Allow…' }).click();
    await pick('Allow and Run Again in This Folder');
    await row(editor(), `${commandLine}, exited with 0`).waitFor();
  });

  it('is shown with its end and its command, and is revoked from its row', async () => {
    const { press, notification, screenshot } = editor();
    await focusView(editor(), 'Policy');
    await walkTo(editor(), 'Grants, 1 in force');
    await press('ArrowRight');
    await walkTo(editor(), `Writing to ${outside.path}`);
    await screenshot('policy-view-grant');
    await press('Delete');
    await notification('The grant is revoked.');
    await focusView(editor(), 'Policy');
    await walkTo(editor(), 'Grants, none');
  });
});

describe('the walkthrough', () => {
  const editor = useEditor();

  it('opens, shows its steps, and checks off what was done', async () => {
    const { runCommand, page, screenshot } = editor();
    await runCommand('Cordon: Meet Your Sandbox');
    const steps = page.locator('.gettingStartedContainer .step-list-container .getting-started-step');
    await expectCount(steps, 8);
    await screenshot('walkthrough');
    const check = steps.filter({ hasText: 'Check that it holds' });
    await check.getByRole('button', { name: 'Check Sandbox' }).click();
    await page.locator('.tab.active').filter({ hasText: 'Cordon Sandbox' }).waitFor();
    await runCommand('Cordon: Meet Your Sandbox');
    await check.locator('.codicon-getting-started-step-checked').waitFor();
    await steps.filter({ hasText: 'See what holds' }).click();
    await steps.filter({ hasText: 'See what holds' }).getByText('Open the Policy View').waitFor();
    await screenshot('walkthrough-policy');
    const asked = steps.filter({ hasText: 'Choose when you are asked' });
    await asked.click();
    await asked.getByRole('button', { name: 'Choose When You Are Asked' }).click();
    const setting = page.locator('.settings-editor .setting-item-contents');
    await setting.filter({ hasText: 'Approvals: Policy' }).locator('select').selectOption('On failure');
    await screenshot('walkthrough-setting');
    await asked.locator('.codicon-getting-started-step-checked').waitFor({ state: 'attached' });
  });
});

/** The row of a view of ours whose spoken label begins so. */
function row({ page }: Pick<Editor, 'page'>, label: string): Locator {
  return page.locator(`.pane-body .monaco-list-row[aria-label^="${label}"]`).first();
}

/** The tree of a view of ours. */
function listOf(page: Editor['page'], view: string): Locator {
  return page
    .locator('.pane')
    .filter({ has: page.locator('.pane-header').getByText(view, { exact: true }) })
    .locator('.pane-body .monaco-list');
}

/** Shows a view with the focus in its tree, which has to be filled to take it. */
async function focusView(editor: Editor, view: string): Promise<void> {
  await waitFor(`the focus in ${view}`, async () => {
    await editor.runCommand(`Cordon: Focus on ${view} View`);
    return isDone(
      listOf(editor.page, view).and(editor.page.locator(':focus')).waitFor({ timeout: momentMs }),
    );
  });
}

/** Picks an entry of the menu of the row that has the focus. */
async function chooseInMenu(editor: Editor, entry: string): Promise<void> {
  await waitFor('the menu of the row', async () => {
    await editor.press('Shift+F10');
    return isDone(editor.page.locator('.monaco-menu').waitFor({ timeout: momentMs }));
  });
  await pickInMenu(editor, entry);
}

/** Presses the arrow down until the row has the focus: from the first one, when it is above. */
async function walkTo(editor: Editor, label: string): Promise<void> {
  const focused = editor.page.locator('.pane-body .monaco-list:focus .monaco-list-row.focused');
  const spoken = async (): Promise<string> => (await focused.first().getAttribute('aria-label')) ?? '';
  await editor.page.locator('.pane-body .monaco-list:focus').first().waitFor();
  await editor.press('Home');
  await waitFor(
    `the focus on "${label}"`,
    async () => {
      const now = (await focused.count()) === 0 ? '' : await spoken();
      if (now.startsWith(label)) {
        return true;
      }
      await editor.press('ArrowDown');
      return false;
    },
    { describe: () => editor.page.locator('.pane-body .monaco-list-row').allInnerTexts() },
  );
}
