/** Long enough for a machine that is slow and busy: only a failure takes it. */
export const patienceMs = 40_000;

/**
 * Resolves with what `condition` gives as soon as that is neither false, null nor undefined.
 * Rejects after `timeoutMs` (default {@link patienceMs}), naming `what` and the state that `describe` reports.
 */
export async function waitFor<T>(
  what: string,
  condition: () => T | Promise<T>,
  options: { readonly timeoutMs?: number; readonly describe?: () => unknown } = {},
): Promise<Exclude<T, false | null | undefined>> {
  const timeoutMs = options.timeoutMs ?? patienceMs;
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await condition();
    if (value !== false && value !== null && value !== undefined) {
      return value as Exclude<T, false | null | undefined>;
    }
    if (Date.now() > deadline) {
      const state = await options.describe?.();
      const shown =
        state === undefined ? '' : `\n${typeof state === 'string' ? state : JSON.stringify(state, null, 2)}`;
      throw new Error(`Waited ${timeoutMs} ms in vain for ${what}.${shown}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
