import { openEditor } from '../e2e/harness.ts';
import { waitFor } from '../harness/waitFor.ts';

/** Milliseconds that the editor itself states for the activation of Cordon, once per fresh editor. */
export async function measureActivation(runs = 3): Promise<readonly number[]> {
  const times: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const editor = await openEditor();
    try {
      // The list draws only the rows that fit, slowest extension first.
      await editor.page.setViewportSize({ width: 1360, height: 3000 });
      await editor.runCommand('Developer: Show Running Extensions');
      const row = editor.page
        .locator('.monaco-list-row')
        .filter({ hasText: /^\s*Cordon/ })
        .filter({ hasText: 'Activation' });
      const text = await waitFor('the activation time of Cordon', async () =>
        /Activation: (\d+)\s?ms/.exec(
          await row
            .first()
            .innerText({ timeout: 5000 })
            .catch(() => ''),
        ),
      );
      times.push(Number(text[1]));
    } finally {
      await editor.dispose();
    }
  }
  return times;
}
