import type { Confirmation } from '../../runtime/tools/tool.ts';

/**
 * Remembers which questions the editor's own card has put to the person. The input can be edited on the
 * card, and the policy can change behind it: a yes counts once, for exactly the input and words shown.
 */
export class ConfirmationLedger {
  readonly #asked = new Set<string>();

  recordAsked(tool: string, input: unknown, confirmation: Confirmation): void {
    const key = keyOf(tool, input, confirmation);
    this.#asked.delete(key);
    this.#asked.add(key);
    if (this.#asked.size > maxEntries) {
      // A question may never be followed by a call (the person skipped it): the oldest makes room.
      this.#asked.delete(this.#asked.values().next().value as string);
    }
  }

  /** True when exactly this was asked and has not been used yet. */
  useAnswer(tool: string, input: unknown, confirmation: Confirmation): boolean {
    return this.#asked.delete(keyOf(tool, input, confirmation));
  }
}

const maxEntries = 100;

function keyOf(tool: string, input: unknown, confirmation: Confirmation): string {
  return JSON.stringify([tool, input, confirmation.title, confirmation.message, confirmation.scope]);
}
