import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSampleWorkspace } from '../../scripts/sampleWorkspace.mjs';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import { openEditor, useEditor } from './harness.ts';
import type { Editor } from './harness.ts';

describe('the sandbox in the status bar', () => {
  const editor = useEditor();

  it('changes the network of the root by a click, and commands follow', async () => {
    const { statusBarItem, pick, runCommand, answer, waitForTerminal } = editor();
    await statusBarItem('sandbox').click();
    await pick('Network on');
    await statusBarItem('sandbox').getByText('Workspace write · network on').waitFor();
    await runCommand('Cordon: Run Sandboxed…');
    await answer('echo "off: [$CORDON_SANDBOX_NETWORK_DISABLED]"', 'Command to run');
    await waitForTerminal('off: []');
  });

  it('runs without a sandbox only after a yes, and then warns', async () => {
    const { runCommand, pick, answer, page, statusBarItem, screenshot, waitForTerminal } = editor();
    await runCommand('Cordon: Change Sandbox Mode…');
    await pick('No sandbox');
    await page.locator('.monaco-dialog-box').getByText('without a sandbox?').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.monaco-dialog-box').waitFor({ state: 'detached' });
    await statusBarItem('sandbox').getByText('Workspace write').waitFor();
    await runCommand('Cordon: Change Sandbox Mode…');
    await pick('No sandbox');
    await page.locator('.monaco-dialog-box').getByText('Remove the Sandbox').click();
    await statusBarItem('sandbox').getByText('No sandbox').waitFor();
    await page.locator('.statusbar-item.warning-kind[id$="sandbox"]').waitFor();
    await runCommand('Cordon: Run Sandboxed…');
    await answer('echo "sandbox: [$CORDON_SANDBOX]"', 'Command to run');
    await waitForTerminal('sandbox: []');
    await screenshot('status-bar-unsandboxed');
  });

  it('goes back to the settings', async () => {
    const { runCommand, pick, type, quickInput, statusBarItem } = editor();
    await runCommand('Cordon: Change Sandbox Mode…');
    await quickInput.getByText('Read only', { exact: true }).waitFor();
    await type('Reset');
    await pick('Reset to settings');
    await statusBarItem('sandbox').getByText('Workspace write · network off').waitFor();
  });

  it('tells that the sandbox works', async () => {
    const { runCommand, notification } = editor();
    await runCommand('Cordon: Check Sandbox');
    await notification(/The sandbox \(bubblewrap\) held in all of \d+ probes/, 60_000);
  });
});

describe('an untrusted workspace', () => {
  const editor = useEditor({ trust: false, userSettings: { 'cordon.sandbox.mode': 'danger-full-access' } });

  it('is read-only whatever the settings say, and offers trust instead of a choice', async () => {
    const { statusBarItem, notification, screenshot } = editor();
    await statusBarItem('sandbox').getByText('Read only (workspace not trusted)').waitFor();
    await statusBarItem('sandbox').click();
    await (await notification(/not trusted/)).getByText('Manage Workspace Trust').waitFor();
    await screenshot('untrusted');
  });
});

describe('several roots', () => {
  let editor: Editor;
  let folder: Awaited<ReturnType<typeof createTemporaryFolder>>;

  before(async () => {
    folder = await createTemporaryFolder('roots');
    const roots = ['one', 'two'];
    for (const name of roots) {
      await createSampleWorkspace(join(folder.path, name));
    }
    await mkdir(join(folder.path, 'two', '.vscode'), { recursive: true });
    await writeFile(
      join(folder.path, 'two', '.vscode', 'settings.json'),
      JSON.stringify({ 'cordon.sandbox.mode': 'read-only' }),
    );
    const workspaceFile = join(folder.path, 'both.code-workspace');
    await writeFile(workspaceFile, JSON.stringify({ folders: roots.map((path) => ({ path })) }));
    editor = await openEditor({ workspaceFile });
  });

  after(async () => {
    await editor?.dispose();
    await folder?.dispose();
  });

  it('each have their policy: the one that narrows itself is read-only', async () => {
    const { runCommand, pick, answer, waitForTerminal, waitForText, screenshot } = editor;
    await runCommand('Cordon: Run Sandboxed…');
    await waitForText('Read only · network off');
    await screenshot('pick-root');
    await pick('two');
    await answer('pwd; touch here', 'Command to run');
    await waitForTerminal(/this root is read-only/);
    await runCommand('Cordon: Run Sandboxed…');
    await pick('one');
    await answer('touch here && basename "$PWD"', 'Command to run');
    await waitForTerminal(/^one$/m);
  });
});
