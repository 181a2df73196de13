import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import type { TemporaryFolder } from '../harness/temporaryFolder.ts';
import { expectCount } from './expect.ts';
import { projectFolder, useEditor } from './harness.ts';

describe('a folder whose commands run on another machine', () => {
  let folder: TemporaryFolder;
  let server: ChildProcess;
  let home: string;

  const editor = useEditor(async () => {
    folder = await createTemporaryFolder('elsewhere');
    home = join(folder.path, 'work');
    mkdirSync(home);
    server = spawn(process.execPath, [join(projectFolder, 'dist/cli.js'), 'exec-server'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(server.stdout ?? assert.fail(), 'data')) as [Buffer];
    return {
      machineSettings: {
        'cordon.environments': {
          build: { type: 'url', url: String(line).trim(), folder: home },
          gone: { type: 'url', url: 'ws://127.0.0.1:9', folder: home },
          odd: { type: 'telepathy' },
        },
      },
      userSettings: { 'terminal.integrated.tabs.hideCondition': 'never' },
    };
  });
  after(async () => {
    server.kill('SIGTERM');
    await once(server, 'exit');
    await folder.dispose();
  });

  const start = async (commandLine: string): Promise<void> => {
    await editor().runCommand('Cordon: Run Sandboxed…');
    await editor().answer(commandLine, 'Command to run');
  };

  it('is chosen in a list that says where each is and what is wrong', async () => {
    const { runCommand, quickInput, screenshot, pick, press, statusBarItem } = editor();
    await runCommand('Cordon: Select Environment…');
    await quickInput.getByText(/cordon\.environments\.odd\.type is "telepathy"/).waitFor();
    await screenshot('environment-picker');
    await pick('build');
    // What is allowed there is asked before a command is run.
    await statusBarItem('cordon.cordon.sandbox').filter({ hasText: 'build: Workspace write' }).waitFor();
    await runCommand('Cordon: Select Environment…');
    await quickInput.locator('.monaco-list-row.focused').filter({ hasText: 'build' }).waitFor();
    await press('Escape');
  });

  it('has a page about its policy that says where that holds', async () => {
    const { runCommand, waitForText, closeAllEditors, screenshot } = editor();
    await runCommand('Cordon: Show Effective Policy');
    await waitForText(/run.in.*the.environment.build/);
    await screenshot('environment-policy');
    await closeAllEditors();
  });

  it('runs them there, in terminals that say so', async () => {
    const { waitForTerminal, page, screenshot, statusBarItem } = editor();
    await start('pwd; sleep 1');
    await waitForTerminal(new RegExp(`^${home}$[^]*exited with code 0`, 'm'));
    await page.locator('.terminal-tabs-entry').filter({ hasText: '✓ build: pwd' }).waitFor();
    await statusBarItem('cordon.cordon.sandbox').filter({ hasText: 'build: Workspace write' }).waitFor();
    await screenshot('environment-terminal');
  });

  it('says why when there is no connection, and runs nothing', async () => {
    const { runCommand, pick, notification, screenshot, statusBarItem, page } = editor();
    await runCommand('Cordon: Select Environment…');
    await pick('gone');
    const toast = await notification(/127\.0\.0\.1:9/);
    await toast.getByRole('button', { name: 'Retry' }).waitFor();
    await toast.getByRole('button', { name: 'Open Settings' }).waitFor();
    await statusBarItem('cordon.cordon.sandbox').filter({ hasText: 'gone: no connection' }).waitFor();
    await screenshot('environment-unreachable');
    await runCommand('Notifications: Clear All Notifications');
    await start('pwd');
    await (await notification(/127\.0\.0\.1:9/)).getByRole('button', { name: 'Retry' }).waitFor();
    await expectCount(page.locator('.notifications-toasts .notification-toast'), 1);
    await runCommand('Notifications: Clear All Notifications');
  });

  it('comes back to this machine', async () => {
    const { runCommand, pick, waitForTerminal, statusBarItem, workspace } = editor();
    await runCommand('Cordon: Select Environment…');
    await pick('Reset to settings');
    await statusBarItem('cordon.cordon.sandbox').filter({ hasNotText: 'gone' }).waitFor();
    await start('echo here: $PWD');
    await waitForTerminal(`here: ${workspace}`);
  });
});
