import * as z from 'zod';
import type { TerminalSize } from '../../terminal/childHandle.ts';
import { maxAnswerTokens } from '../sessions/truncateOutput.ts';

/** The terminal of an agent's session, as in the reference. */
export const agentTerminalSize: TerminalSize = { columns: 80, rows: 24 };

export const outputTokens = z
  .number()
  .int('must be a whole number')
  .min(0, 'must not be negative')
  .default(maxAnswerTokens)
  .describe('Output beyond this many tokens (4 bytes each, at most 10000) is cut out of the middle.');

/** As in the reference: a call that runs or types something yields after 250 ms to 30 s. */
export function clampYield(ms: number): number {
  return clamp(ms, 250, 30_000);
}

/** As in the reference: an empty poll waits 5 s to 5 min. */
export function clampPoll(ms: number): number {
  return clamp(ms, 5_000, 300_000);
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}
