import { useEditor } from './harness.ts';

describe('the editor with Cordon', () => {
  const editor = useEditor();

  it('offers Cordon: Run Sandboxed… in the command palette', async () => {
    const { quickInput, press, type } = editor();
    await press('F1');
    await quickInput.waitFor();
    await type('Cordon: Run Sandboxed');
    await quickInput.getByText('Cordon: Run Sandboxed…', { exact: true }).first().waitFor();
    await press('Escape');
    await quickInput.waitFor({ state: 'hidden' });
  });

  it('shows the sandbox of the root in the status bar', async () => {
    await editor().page.locator('.statusbar-item[id^="cordon.cordon"]').first().waitFor();
  });

  it('shows what a terminal shows as text', async () => {
    const { runCommand, waitForTerminal, typeInTerminal } = editor();
    await runCommand('Terminal: Create New Terminal');
    await waitForTerminal(/[$#] $|[$#]$/m);
    await typeInTerminal('echo from-the-$((40 + 2))', 'Enter');
    await waitForTerminal('from-the-42');
  });
});
