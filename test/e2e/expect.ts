import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import { waitFor } from '../harness/waitFor.ts';

/**
 * What the editor draws appears some time after what it shows, and is drawn anew when something changes: a look
 * at it means something only when it waits. A linter's rule keeps looks that do not wait out of the tests.
 */
export async function expectCount(locator: Locator, count: number): Promise<void> {
  await waitFor(`${count} × ${locator.toString()}`, async () => (await locator.count()) === count, {
    describe: () => locator.allInnerTexts(),
  });
}

/** Waits until the first of the elements reads exactly so, apart from the kind of its spaces. */
export async function expectText(locator: Locator, text: string): Promise<void> {
  const shown = async (): Promise<string | undefined> =>
    (await locator.allInnerTexts()).map(normaliseSpaces)[0];
  await waitFor(`"${text}" in ${locator.toString()}`, async () => (await shown()) === text, {
    describe: shown,
  });
}

/** None of it is there now. Proves something only after a wait for what comes no earlier than it would have come. */
export async function assertNone(locator: Locator): Promise<void> {
  assert.deepEqual(await locator.allInnerTexts(), [], locator.toString());
}

/** Spaces as they were typed, without the places where a long word may break. */
export function normaliseSpaces(text: string): string {
  return text.replaceAll('\u00a0', ' ').replaceAll('\u200b', '').trim();
}
