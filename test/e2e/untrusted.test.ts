import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expectCount } from './expect.ts';
import { projectFolder, useEditor } from './harness.ts';

describe('a workspace that is not trusted', () => {
  const editor = useEditor({
    trust: false,
    extraExtensions: [join(projectFolder, 'test', 'fixtures', 'scripted-model')],
    userSettings: {
      'cordon.sandbox.mode': 'danger-full-access',
      // The editor would open a shell of its own in the panel, and ask for trust.
      'terminal.integrated.hideOnStartup': 'whenEmpty',
    },
  });

  /** What an agent reads when it calls a tool. */
  const call = async (tool: string, input: object): Promise<string> => {
    const { runCommand, answer, notification } = editor();
    await runCommand('Notifications: Clear All Notifications');
    await runCommand('Scripted Model: Call Tool');
    await answer(JSON.stringify({ tool: `cordon_${tool}`, input }), 'Tool call as JSON');
    return (await notification(/Wall time|failed/)).innerText();
  };
  const trustEditor = () => editor().page.locator('.workspace-trust-editor');
  const trust = async (): Promise<void> => {
    await editor().runCommand('Workspaces: Manage Workspace Trust');
    await trustEditor().getByRole('button', { name: 'Trust', exact: true }).click();
    await expectCount(restricted(), 0);
    await editor().page.locator('[class*="modal-editor"] .codicon-close').first().click();
    await expectCount(trustEditor(), 0);
  };
  const restricted = () => editor().page.locator('.statusbar-item').filter({ hasText: 'Restricted Mode' });
  let session: number;

  it('has agents read only and reach no network, in a server that starts with their first command', async () => {
    const { execServers, workspace } = editor();
    assert.equal(execServers().length, 0);
    const cmd =
      'touch here; echo "written $?"; echo > /dev/tcp/1.1.1.1/80; echo "reached $?"; cat package.json';
    const text = await call('exec_command', { cmd });
    assert.match(text, /Read-only file system.*written 1.*reached 1.*"name"/s);
    assert.equal(existsSync(join(workspace, 'here')), false);
    assert.equal(execServers().length, 1);
  });

  it('has no terminals, and says so', async () => {
    const { runCommand, notification, screenshot } = editor();
    await runCommand('Cordon: Run Sandboxed…');
    await notification(/is not trusted, and the editor opens no terminals in it/);
    await screenshot('untrusted-no-terminals');
    await runCommand('Notifications: Clear All Notifications');
  });

  it('leaves what was started while it was trusted running, and nobody types there', async () => {
    const { runCommand, answer, waitForTerminal, page, openSideBar, notification, screenshot } = editor();
    await trust();
    await runCommand('Cordon: Change Sandbox Mode…');
    await editor().pick(/^Workspace write/);
    await runCommand('Cordon: Run Sandboxed…');
    await answer('python3 -q', 'Command to run');
    await waitForTerminal(/^>>>$/m);
    const started = await call('exec_command', { cmd: 'cat > written', tty: true, yield_time_ms: 1_000 });
    session = Number(/session ID (\d+)/.exec(started)?.[1]);

    await runCommand('Workspaces: Manage Workspace Trust');
    const folder = trustEditor().locator('.monaco-list-row').first();
    const loaded = page.waitForEvent('load');
    await folder.hover();
    await folder.getByRole('button', { name: 'Delete Path' }).click();
    await loaded;
    await restricted().waitFor();
    await openSideBar('Cordon');
    const rows = page.locator('.pane-body .monaco-list-row').filter({ hasText: 'running' });
    await rows.filter({ hasText: 'python3 -q' }).waitFor();
    await rows.filter({ hasText: 'cat > written' }).waitFor();
    assert.match(
      await call('write_stdin', { session_id: session, chars: 'x\r' }),
      /the workspace is not trusted any more, and session \d+ may do what was allowed/,
    );
    await runCommand('Cordon: Show Session…');
    await editor().pick(/python3 -q/);
    await notification(/opens no terminals in it/);
    // The editor would ask for trust if a terminal were opened.
    await expectCount(page.locator('.monaco-dialog-box'), 0);
    await screenshot('untrusted-sessions');
  });

  it('has its terminals again as soon as it is trusted', async () => {
    const { waitForTerminal, typeInTerminal, screenshot, page } = editor();
    await trust();
    await waitForTerminal(/^>>>$/m);
    await page.locator('.terminal-wrapper.active .xterm-screen').click();
    await typeInTerminal('print(40 + 2)', 'Enter');
    await waitForTerminal(/^42$/m);
    await screenshot('untrusted-trusted-again');
    await typeInTerminal('exit()', 'Enter');
    await waitForTerminal(/exited with code 0/);
    assert.match(await call('kill_session', { session_id: session }), /Process exited/);
  });
});
