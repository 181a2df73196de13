import { join } from 'node:path';
import { mkdirSync } from 'node:fs';
import type { SshServer } from '../harness/sshServer.ts';
import { startSshServer } from '../harness/sshServer.ts';
import { useEditor } from './harness.ts';

describe('a session on a host that is reached over ssh', () => {
  let server: SshServer;
  let folder: string;

  const editor = useEditor(async () => {
    server = await startSshServer();
    folder = join(server.home, 'project');
    mkdirSync(folder);
    return {
      machineSettings: {
        'cordon.environments': {
          box: { type: 'ssh', host: server.host, sshPath: server.sshPath, folder },
        },
      },
      userSettings: { 'terminal.integrated.tabs.hideCondition': 'never' },
    };
  });
  after(() => server.dispose());

  const start = async (commandLine: string): Promise<void> => {
    await editor().runCommand('Cordon: Run Sandboxed…');
    await editor().answer(commandLine, 'Command to run');
  };

  it('has its terminal back when the window is loaded again, with its history, and still takes input', async () => {
    const { runCommand, pick, statusBarItem, reload, waitForTerminal, typeInTerminal, screenshot, page } =
      editor();
    await runCommand('Cordon: Select Environment…');
    await pick('box');
    // The first time, the server is installed there.
    await statusBarItem('cordon.cordon.sandbox').filter({ hasText: 'box: Workspace write' }).waitFor();
    await start('pwd; exec python3 -q');
    await waitForTerminal(new RegExp(`^${folder}$[^]*^>>>$`, 'm'));
    await typeInTerminal('answer = 6 * 7', 'Enter');
    await typeInTerminal('print("before", answer)', 'Enter');
    await waitForTerminal(/^before 42$/m);
    await reload();
    await waitForTerminal(/^before 42$/m);
    await page.locator('.terminal-wrapper.active .xterm-screen').click();
    await typeInTerminal('print("after", answer)', 'Enter');
    await waitForTerminal(/^before 42$[^]*^after 42$/m);
    await page.locator('.terminal-tabs-entry').filter({ hasText: 'box: ' }).waitFor();
    await screenshot('ssh-reload');
    await typeInTerminal('exit(3)', 'Enter');
    await waitForTerminal(/exited with code 3/);
  });

  it('loses nothing while there is no window, nor when the connection breaks', async () => {
    const { reload, waitForTerminal, screenshot } = editor();
    await start('for i in $(seq 1 400); do echo "line $i."; sleep 0.05; done');
    await waitForTerminal(/line 20\./);
    server.cutConnections();
    await waitForTerminal(/line 60\./, 30_000);
    await reload();
    await waitForTerminal(/line 397\.\s+line 398\.\s+line 399\.\s+line 400\.[^]*exited with code 0/, 60_000);
    await screenshot('ssh-reload-output');
  });
});
