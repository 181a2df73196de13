import assert from 'node:assert/strict';
import { useEditor } from './harness.ts';

describe('a flood of 200 MB in a terminal', () => {
  const editor = useEditor();

  it('leaves the window usable while it runs, and ends with its last lines', async function () {
    this.timeout(480_000);
    const { runCommand, answer, waitForTerminal, page, quickInput, screenshot } = editor();
    await runCommand('Cordon: Run Sandboxed…');
    await answer(
      'head -c 200000000 /dev/zero | tr "\\0" x | fold -w 79; echo; echo the-last-line; sleep 3',
      'Command to run',
    );
    await waitForTerminal(/x{60}/);
    // A frozen window misses the deadlines of the palette.
    const delays: number[] = [];
    for (let i = 0; i < 8; i += 1) {
      const startedAt = performance.now();
      await page.keyboard.press('F1');
      await quickInput.waitFor({ timeout: 15_000 });
      await page.keyboard.press('Escape');
      await quickInput.waitFor({ state: 'hidden', timeout: 15_000 });
      delays.push(Math.round(performance.now() - startedAt));
    }
    await screenshot('flood');
    await waitForTerminal(/the-last-line/, 300_000);
    const shown = await waitForTerminal(/(?=[^]*of its output are not shown here)[^]*exited with code/);
    assert.match(shown, /exited with code 0/);
    await screenshot('flood-end');
    console.log(`      palette during the flood: ${delays.join(', ')} ms`);
  });
});
