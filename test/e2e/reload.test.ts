import assert from 'node:assert/strict';
import { descendantsOf } from '../harness/processes.ts';
import { waitFor } from '../harness/waitFor.ts';
import { expectCount } from './expect.ts';
import { useEditor } from './harness.ts';

const settings = { 'terminal.integrated.tabs.hideCondition': 'never' };

describe('a session in a window that is loaded again', () => {
  const editor = useEditor({ userSettings: settings });

  const start = async (commandLine: string): Promise<void> => {
    await editor().runCommand('Cordon: Run Sandboxed…');
    await editor().answer(commandLine, 'Command to run');
  };

  it('has its terminal back, with its history, and still takes input', async () => {
    const { reload, waitForTerminal, typeInTerminal, screenshot, page } = editor();
    await start('python3 -q');
    await waitForTerminal(/^>>>$/m);
    await typeInTerminal('answer = 6 * 7', 'Enter');
    await typeInTerminal('print("before", answer)', 'Enter');
    await waitForTerminal(/^before 42$/m);
    await screenshot('reload-before');
    await reload();
    await waitForTerminal(/^before 42$/m);
    await screenshot('reload-after');
    await page.locator('.terminal-wrapper.active .xterm-screen').click();
    await typeInTerminal('print("after", answer)', 'Enter');
    await waitForTerminal(/^before 42$[^]*^after 42$/m);
    await screenshot('reload-typed');
    await typeInTerminal('exit(3)', 'Enter');
    await waitForTerminal(/exited with code 3/);
  });

  it('goes on with its output while there is no window', async () => {
    const { reload, waitForTerminal, screenshot } = editor();
    await start('for i in $(seq 1 400); do echo "line $i."; sleep 0.05; done');
    await waitForTerminal(/line 20\./);
    await reload();
    const shown = await waitForTerminal(/line 400\.[^]*exited with code 0/, 60_000);
    await screenshot('reload-output');
    const lines = [...shown.matchAll(/line (\d+)\./g)].map((match) => Number(match[1]));
    const first = lines[0] ?? 0;
    assert.deepEqual(
      lines,
      lines.map((_, index) => first + index),
    );
  });

  it('is told of the size that its terminal gets afterwards', async () => {
    const { reload, waitForTerminal, terminalText, typeInTerminal, screenshot, page } = editor();
    const told = async (): Promise<readonly number[]> =>
      (await terminalText())
        .match(/^\d+ \d+$/gm)
        ?.at(-1)
        ?.split(' ')
        .map(Number) ?? [];
    const rows = page.locator('.terminal-wrapper.active .xterm-rows > div');
    const { width = 0, height = 0 } = page.viewportSize() ?? {};
    await start('while read -r line; do stty size; done');
    await typeInTerminal('', 'Enter');
    await waitForTerminal(/^\d+ \d+$/m);
    const [, columns = 0] = await told();
    await reload();
    await waitForTerminal(/^\d+ \d+$/m);
    await page.setViewportSize({ width: width - 300, height: height - 100 });
    await page.locator('.terminal-wrapper.active .xterm-screen').click();
    await waitFor('the new size in the program', async () => {
      await typeInTerminal('', 'Enter');
      const [toldRows, toldColumns = 0] = await told();
      return toldRows === (await rows.count()) && toldColumns < columns;
    });
    await screenshot('reload-resized');
    await page.setViewportSize({ width, height });
    await typeInTerminal('', 'Control+D');
    await waitForTerminal(/exited with code/);
  });

  it('has its title back, which tells how it ended however soon that was', async () => {
    const { reload, page, waitForTerminal } = editor();
    const tab = page.locator('.terminal-tabs-entry').filter({ hasText: '✓ echo at once' });
    await start('echo at once');
    await tab.waitFor();
    await start('echo stays; sleep 600');
    await waitForTerminal(/^stays$/m);
    await reload();
    await tab.waitFor();
    // In front of the shell that the editor opens by itself.
    await page.locator('.terminal-tabs-entry').filter({ hasText: 'bash' }).waitFor();
    await waitForTerminal(/^stays$/m);
  });

  it('has one terminal when the extension host crashed', async () => {
    const { serverPid, page, waitForTerminal } = editor();
    const tabs = page.locator('.terminal-tabs-entry').filter({ hasText: 'echo stays' });
    await waitForTerminal(/^stays$/m);
    const hosts = descendantsOf(serverPid).filter(({ command }) => command.includes('type=extensionHost'));
    assert.equal(hosts.length, 1);
    for (const { pid } of hosts) {
      process.kill(pid, 'SIGKILL');
    }
    await waitFor('another extension host', () =>
      descendantsOf(serverPid).some(
        ({ pid, command }) => command.includes('type=extensionHost') && pid !== hosts[0]?.pid,
      ),
    );
    await expectCount(page.locator('.statusbar-item[id^="cordon.cordon"]'), 0);
    await page.locator('.statusbar-item[id^="cordon.cordon"]').first().waitFor();
    await waitForTerminal(/^stays$/m);
    await expectCount(tabs, 1);
  });

  it('is in the view of sessions, and can be ended there', async () => {
    const { reload, openSideBar, waitForTerminal, page, screenshot, runCommand, pick } = editor();
    await start('echo started; sleep 600');
    await waitForTerminal(/^started$/m);
    await reload();
    await openSideBar('Cordon');
    const row = page.locator('.pane-body .monaco-list-row').filter({ hasText: 'echo started; sleep 600' });
    await row.filter({ hasText: 'running' }).waitFor();
    await screenshot('reload-sessions');
    await runCommand('Cordon: Kill Session…');
    await pick('echo started; sleep 600');
    await row.filter({ hasText: 'exited with 143' }).waitFor();
  });

  it('says what happened when its server is killed, and the next command runs', async () => {
    const { execServers, waitForTerminal, screenshot } = editor();
    await start('echo here it is; sleep 600');
    await waitForTerminal(/^here it is$/m);
    for (const { pid } of execServers()) {
      process.kill(pid, 'SIGKILL');
    }
    await waitForTerminal(/^here it is$[^]*was lost: .*its server has ended/m);
    await screenshot('reload-server-killed');
    await start('echo next');
    await waitForTerminal(/^next$[^]*exited with code 0/m);
  });

  it('stays with its window when the same folder is opened in another one', async () => {
    const { execServers, openSecond, waitForTerminal, typeInTerminal } = editor();
    await start('python3 -q');
    await waitForTerminal(/^>>>$/m);
    const second = await openSecond();
    await second.runCommand('Cordon: Run Sandboxed…');
    await second.answer('echo in the second', 'Command to run');
    await second.waitForTerminal(/^in the second$/m);
    await second.screenshot('reload-second-window');
    assert.equal(execServers().length, 2);
    await second.page.close();
    await typeInTerminal('print(40 + 2)', 'Enter');
    await waitForTerminal(/^42$/m);
    await typeInTerminal('exit()', 'Enter');
    await waitForTerminal(/exited with code 0/);
  });
});
