import type { Widening } from '../../sandbox/policy/widening.ts';
import type { Place } from '../places.ts';

/** A command of an agent that runs in its sandbox, whose programs may be asked about. */
export interface RunningScript extends Place {
  readonly commandLine: string;
  /** Of its session. */
  readonly session: number;
  /** The name of the agent's front end. */
  readonly owner: string;
  /** What it may do beyond the policy of its root. */
  readonly widenings: readonly Widening[];
  /** Commands that its line names and that were asked about with it. */
  readonly agreed: readonly (readonly string[])[];
}
