import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '../harness/waitFor.ts';
import { expectCount } from './expect.ts';
import { pressRowButton, useEditor } from './harness.ts';

describe('an interactive program in a terminal of Cordon', () => {
  const editor = useEditor({ userSettings: { 'terminal.integrated.tabs.hideCondition': 'never' } });

  const start = async (commandLine: string): Promise<void> => {
    await editor().runCommand('Cordon: Run Sandboxed…');
    await editor().answer(commandLine, 'Command to run');
  };

  /** Shows the session of the active terminal in a second one, and waits until that one has the focus. */
  const showAnother = async (): Promise<void> => {
    const { runCommand, quickInput, page } = editor();
    const tabs = page.locator('.terminal-tabs-entry');
    const count = await tabs.count();
    await runCommand('Cordon: Show Session…');
    await quickInput
      .getByText(/running/)
      .first()
      .waitFor();
    await pressRowButton(quickInput.locator('.monaco-list-row').first(), 'Show in one more terminal');
    await expectCount(tabs, count + 1);
    await page.locator('.terminal-wrapper.active .xterm.focus').waitFor();
  };

  it('vim fills the terminal, takes keys, writes the file and gives the screen back', async () => {
    const { waitForTerminal, typeInTerminal, screenshot, workspace } = editor();
    await start('vim -u NONE -c "set nocp showmode" poem.txt');
    await waitForTerminal(/^~$/m);
    await typeInTerminal('iroses are red', 'Escape');
    await waitForTerminal(/roses are red/);
    await screenshot('vim');
    await typeInTerminal(':wq', 'Enter');
    await waitForTerminal(/exited with code 0/);
    await waitFor('the file', () => readFileSync(join(workspace, 'poem.txt'), 'utf8') === 'roses are red\n');
  });

  it('a Python REPL answers, and Ctrl+C stops only the computation', async () => {
    const { waitForTerminal, typeInTerminal } = editor();
    await start('python3 -q');
    await waitForTerminal(/^>>>$/m);
    await typeInTerminal('6 * 7', 'Enter');
    await waitForTerminal(/^42$/m);
    // Asleep before the interrupt: one that comes between two lines of input can get lost inside Python itself.
    await typeInTerminal('import time; print("sleeping"); time.sleep(600)', 'Enter');
    await waitForTerminal(/^sleeping$/m);
    await typeInTerminal('', 'Control+c');
    await waitForTerminal(/KeyboardInterrupt\n>>>$/);
    await typeInTerminal('exit(5)', 'Enter');
    await waitForTerminal(/exited with code 5/);
  });

  it('shows a session that already runs as it looks now, in its own screen', async () => {
    const { waitForTerminal, typeInTerminal, terminalText } = editor();
    await start('vim -u NONE -c "set nocp" README.md');
    const shown = await waitForTerminal(/^# Sample project$[^]*^~$/m);
    const text = shown.slice(0, shown.indexOf('\n~'));
    await showAnother();
    await waitFor('the same picture', async () => (await terminalText()).startsWith(text), {
      describe: terminalText,
    });
    await typeInTerminal(':q', 'Enter');
    await waitForTerminal(/exited with code 0/);
  });

  it('gets one answer to a query, however many terminals look at it', async () => {
    const { waitForTerminal, typeInTerminal } = editor();
    await start('stty raw -echo; echo ready; head -c 1 >/dev/null; printf "\\033[6n"; timeout 6 cat -v');
    await waitForTerminal(/^ready/m);
    await showAnother();
    await waitForTerminal(/^ready/m);
    await typeInTerminal('x');
    const shown = await waitForTerminal(/exited with code/);
    assert.equal([...shown.matchAll(/\^\[\[\d+;\d+R/g)].length, 1);
  });
});
