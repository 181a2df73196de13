import type { Result } from '../../base/result.ts';
import type { PolicyInput, PolicyProblem } from './input.ts';
import type { SandboxPolicy } from './policy.ts';
import { resolvePolicy } from './resolve.ts';

/** One call of a tool asks for a policy several times, and so does what the editor shows of it. */
const freshMs = 100;
const maxPolicies = 32;

type Resolved = Result<SandboxPolicy, PolicyProblem>;

/**
 * Resolves policies, and gives the same one again for a moment while nobody says anything else: only the machine's
 * files can have changed meanwhile, which they can as well while a command runs under the policy.
 */
export class RecentPolicies {
  readonly #now: () => number;
  readonly #resolved = new Map<string, { readonly at: number; readonly policy: Resolved }>();

  /** `now`: milliseconds of a clock that only goes forward. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  resolve(input: PolicyInput): Resolved {
    // Without the functions, which are those of the one machine.
    const key = JSON.stringify(input);
    const now = this.#now();
    const known = this.#resolved.get(key);
    if (known !== undefined && now - known.at < freshMs) {
      return known.policy;
    }
    const policy = resolvePolicy(input);
    this.#resolved.delete(key);
    this.#resolved.set(key, { at: now, policy });
    if (this.#resolved.size > maxPolicies) {
      this.#resolved.delete(this.#resolved.keys().next().value as string);
    }
    return policy;
  }
}
