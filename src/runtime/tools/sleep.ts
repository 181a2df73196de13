import * as z from 'zod';
import { Emitter } from '../../base/event.ts';
import type { Event } from '../../base/event.ts';
import type { Tool } from './tool.ts';

const maxSleepMs = 3_600_000;

export const sleepSchema = z.object({
  duration_ms: z
    .number()
    .int('must be a whole number')
    .min(1, `must be between 1 and ${maxSleepMs}`)
    .max(maxSleepMs, `must be between 1 and ${maxSleepMs}`)
    .describe(`How long to sleep, in milliseconds: 1 to ${maxSleepMs} (one hour).`),
});

/** A sleep as it is shown to the person: one item when it starts, one when it ends. */
export type SleepItem =
  | { readonly kind: 'started'; readonly id: number; readonly durationMs: number }
  | {
      readonly kind: 'completed';
      readonly id: number;
      readonly elapsedMs: number;
      readonly isInterrupted: boolean;
    };

/** The sleeps under way: shows them, and ends them early when new input for the turn arrives. */
export class Sleeps {
  readonly #items = new Emitter<SleepItem>();
  readonly #wakes = new Set<() => void>();
  readonly onItem: Event<SleepItem> = this.#items.event;
  #lastId = 0;

  get count(): number {
    return this.#wakes.size;
  }

  /** Ends every sleep now: somebody has something new to say. */
  interruptAll(): void {
    this.#wakes.forEach((wake) => wake());
  }

  /** Sleeps; resolves with the time that really passed and whether it ended early. */
  async sleep(
    durationMs: number,
    signal: AbortSignal,
  ): Promise<{ elapsedMs: number; isInterrupted: boolean }> {
    const id = ++this.#lastId;
    const startedAt = performance.now();
    const ended = new Promise<boolean>((resolve) => {
      const done = (isEarly: boolean): void => {
        clearTimeout(timer);
        this.#wakes.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve(isEarly);
      };
      const wake = (): void => done(true);
      const timer = setTimeout(() => done(false), durationMs);
      this.#wakes.add(wake);
      signal.addEventListener('abort', wake, { once: true });
      if (signal.aborted) {
        wake();
      }
    });
    this.#items.fire({ kind: 'started', id, durationMs });
    const isInterrupted = await ended;
    const elapsedMs = performance.now() - startedAt;
    this.#items.fire({ kind: 'completed', id, elapsedMs, isInterrupted });
    return { elapsedMs, isInterrupted };
  }
}

/** Waits without running anything; new input for the turn ends the wait. */
export function createSleepTool(sleeps: Sleeps): Tool<z.infer<typeof sleepSchema>> {
  return {
    name: 'sleep',
    inputSchema: sleepSchema,
    invocationMessage: ({ duration_ms }) => `Sleeping for ${duration_ms / 1_000} s`,
    confirmation: async () => undefined,
    async invoke({ duration_ms }, { signal }) {
      const { elapsedMs, isInterrupted } = await sleeps.sleep(duration_ms, signal);
      const ending = isInterrupted ? 'Sleep interrupted by new input.' : 'Sleep completed.';
      return { text: `Wall time: ${(elapsedMs / 1_000).toFixed(4)} seconds\n${ending}`, isError: false };
    },
  };
}
