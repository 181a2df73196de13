import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '../harness/waitFor.ts';
import { useEditor } from './harness.ts';

describe('an interactive program in a terminal of Cordon', () => {
  const editor = useEditor();

  const start = async (commandLine: string): Promise<void> => {
    await editor().runCommand('Cordon: Run Sandboxed…');
    await editor().answer(commandLine, 'Command to run');
  };

  const showAnother = async (): Promise<void> => {
    const { runCommand, quickInput } = editor();
    await runCommand('Cordon: Show Session…');
    await quickInput.locator('.monaco-list-row').first().hover();
    await quickInput.locator('.monaco-list-row .codicon-add').first().click();
  };

  it('vim fills the terminal, takes keys, writes the file and gives the screen back', async () => {
    const { waitForTerminal, type, press, screenshot, workspace } = editor();
    await start('vim -u NONE -c "set nocp showmode" poem.txt');
    await waitForTerminal(/^~$/m);
    await type('iroses are red');
    await press('Escape');
    await waitForTerminal(/roses are red/);
    await screenshot('vim');
    await type(':wq');
    await press('Enter');
    await waitForTerminal(/exited with code 0/);
    await waitFor('the file', () => readFileSync(join(workspace, 'poem.txt'), 'utf8') === 'roses are red\n');
  });

  it('a Python REPL answers, and Ctrl+C stops only the computation', async () => {
    const { waitForTerminal, type, press } = editor();
    await start('python3 -q');
    await waitForTerminal(/^>>>$/m);
    await type('6 * 7');
    await press('Enter');
    await waitForTerminal(/^42$/m);
    // Asleep before the interrupt: one that comes between two lines of input can get lost inside Python itself.
    await type('import time; print("sleeping"); time.sleep(60)');
    await press('Enter');
    await waitForTerminal(/^sleeping$/m);
    await press('Control+c');
    await waitForTerminal(/KeyboardInterrupt/);
    await type('exit(5)');
    await press('Enter');
    await waitForTerminal(/exited with code 5/);
  });

  it('shows a session that already runs as it looks now, in its own screen', async () => {
    const { waitForTerminal, press, page, terminalText } = editor();
    await start('vim -u NONE -c "set nocp" README.md');
    await waitForTerminal(/^~$/m);
    const before = await terminalText();
    await showAnother();
    await waitFor('a second terminal with the same picture', async () => {
      const text = await terminalText();
      return (await page.locator('.terminal-tabs-entry').count()) >= 2 && text.includes(before.slice(0, 20));
    });
    assert.match(await waitForTerminal(/^~$/m), /~/);
    await page.locator('.terminal-wrapper.active .xterm.focus').waitFor();
    await page.keyboard.type(':q');
    await press('Enter');
    await waitForTerminal(/exited with code 0/);
  });

  it('gets one answer to a query, however many terminals look at it', async () => {
    const { waitForTerminal, press, page, terminalText } = editor();
    const count = await page.locator('.terminal-tabs-entry').count();
    await start('stty raw -echo; echo ready; head -c 1 >/dev/null; printf "\\033[6n"; timeout 3 cat -v');
    await waitForTerminal(/^ready/m);
    await showAnother();
    await waitFor('two more terminals', async () => {
      return (await page.locator('.terminal-tabs-entry').count()) >= count + 2;
    });
    await waitForTerminal(/^ready/m);
    await page.locator('.terminal-wrapper.active .xterm.focus').waitFor();
    await press('x');
    await waitForTerminal(/exited with code/);
    assert.equal([...(await terminalText()).matchAll(/\^\[\[\d+;\d+R/g)].length, 1);
  });
});
