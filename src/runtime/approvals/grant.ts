import * as z from 'zod';
import { lastingWidenings } from '../../sandbox/policy/widening.ts';

/** What a person can grant for longer than one command; leaving the sandbox is not among it. */
export const grantableSchema = z.discriminatedUnion('kind', [
  ...lastingWidenings,
  /** Commands that begin with these words run without a question. */
  z.object({ kind: z.literal('prefix'), words: z.array(z.string()).min(1).readonly() }),
]);
export type Grantable = Readonly<z.infer<typeof grantableSchema>>;

/** `session`: until the window closes or reloads. `root`: kept by the extension until it is revoked or ends. */
export type GrantScope = 'session' | 'root';

/** A person's widening of one root's policy. */
export interface Grant {
  readonly id: string;
  /** The root's canonical path. */
  readonly root: string;
  /** The machine that it is for; this one without. */
  readonly environment?: string;
  readonly what: Grantable;
  readonly lasts: GrantScope;
  /** When it ends, in milliseconds since the epoch; absent: when it is revoked. */
  readonly until?: number;
  readonly grantedAt: number;
  /** The command line that it was granted for. */
  readonly because: string;
}
