import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { useEditor } from './harness.ts';

const question = 'Command to run in the sandbox';

describe('Cordon: Run Sandboxed…', () => {
  const editor = useEditor();

  it('shows the output, the verdict and how it ended in a terminal', async () => {
    const { runCommand, answer, waitForTerminal, screenshot, page } = editor();
    await runCommand('Cordon: Run Sandboxed…');
    await answer('echo "sum: $((40 + 2))"', question);
    await waitForTerminal('sum: 42');
    const shown = await waitForTerminal('exited with code 0');
    assert.match(shown, /\$ echo "sum: /);
    assert.match(shown, /Press any key to close/);
    await page.locator('.terminal-command-decoration:not(.default-color):not(.error)').first().waitFor();
    await screenshot('run-sandboxed');
  });

  it('closes the terminal on a key after the end', async () => {
    const { typeInTerminal, page } = editor();
    await page.waitForTimeout(600); // keys are ignored for a moment, so that none meant for the command closes it
    await typeInTerminal('x');
    await page.locator('.terminal-wrapper.active').waitFor({ state: 'detached' });
  });

  it('offers what was run before, and runs what was typed even when an older command would match', async () => {
    const { runCommand, answer, pick, waitForTerminal, press, quickInput } = editor();
    await runCommand('Cordon: Run Sandboxed…');
    await quickInput.getByText('echo "sum: $((40 + 2))"').first().waitFor();
    await answer('echo', question);
    await waitForTerminal(/\$ echo\n/);
    await waitForTerminal('exited with code 0');
    await runCommand('Cordon: Run Sandboxed…');
    await pick('echo "sum: $((40 + 2))"');
    await waitForTerminal('sum: 42');
    await press('Escape');
  });

  it('explains a denied write to the home folder', async () => {
    const { runCommand, answer, waitForTerminal, notification, screenshot, page } = editor();
    await runCommand('Cordon: Run Sandboxed…');
    await answer('touch ~/cordon-e2e-denied', question);
    await waitForTerminal(/The sandbox stopped the write/);
    const toast = await notification(/The sandbox stopped the write/);
    await screenshot('denied');
    await toast.getByText('Why?').click();
    await page.locator('.monaco-dialog-box').getByText('Workspace write').waitFor();
    await screenshot('denied-why');
    await page.keyboard.press('Escape');
    assert.equal(existsSync(join(homedir(), 'cordon-e2e-denied')), false);
  });

  it('passes on what is typed, and the size of the terminal', async () => {
    const { runCommand, answer, waitForTerminal, typeInTerminal } = editor();
    await runCommand('Cordon: Run Sandboxed…');
    await answer(
      'read -p "name? " name; read -s -p "secret? " s; echo "[$name/${#s}]"; sleep 1; stty size',
      question,
    );
    await waitForTerminal(/^name\?$/m);
    await typeInTerminal('Ada', 'Enter');
    await waitForTerminal(/^secret\?$/m);
    await typeInTerminal('hunter2', 'Enter');
    const shown = await waitForTerminal(/exited with code 0/);
    assert.match(shown, /\[Ada\/7\]/);
    assert.ok(!shown.includes('hunter2'));
    assert.doesNotMatch(shown, /^24 80$/m);
  });

  it('ends the command when its terminal is closed', async () => {
    const { runCommand, answer, waitForTerminal, waitForText, press } = editor();
    await runCommand('Cordon: Run Sandboxed…');
    await answer('echo started; exec sleep 1000', question);
    await waitForTerminal(/^started$/m);
    await runCommand('Terminal: Kill the Active Terminal Instance');
    await runCommand('Cordon: Show Session…');
    await waitForText(/ended by SIGTERM|exited with 143/);
    await press('Escape');
  });
});
