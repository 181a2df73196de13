import assert from 'node:assert/strict';
import { useEditor } from './harness.ts';

describe('the editor with Cordon', () => {
  const editor = useEditor();

  it('offers Cordon: Run Sandboxed… in the command palette', async () => {
    const { page, quickInput, press, type } = editor();
    await press('F1');
    await type('Cordon: Run Sandboxed');
    await quickInput.getByText('Cordon: Run Sandboxed…', { exact: true }).first().waitFor();
    await press('Escape');
    assert.equal(await page.locator('.quick-input-widget:visible').count(), 0);
  });

  it('shows the sandbox of the root in the status bar', async () => {
    await editor().page.locator('.statusbar-item[id^="cordon.cordon"]').first().waitFor({ timeout: 30_000 });
  });

  it('shows what a terminal shows as text', async () => {
    const { runCommand, waitForTerminal, type, press } = editor();
    await runCommand('Terminal: Create New Terminal');
    await waitForTerminal(/[$#] $|[$#]$/m);
    await type('echo from-the-$((40 + 2))');
    await press('Enter');
    await waitForTerminal('from-the-42');
  });
});
