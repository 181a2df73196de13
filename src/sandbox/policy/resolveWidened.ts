import type { Result } from '../../base/result.ts';
import type { PolicyInput, PolicyProblem } from './input.ts';
import type { SandboxPolicy } from './policy.ts';
import { resolvePolicy } from './resolve.ts';
import type { Widening } from './widening.ts';
import { widenSettings } from './widening.ts';

/** The policy of a root with what a person gives on top, which everything narrows that narrows the person's settings. */
export function resolveWidened(
  input: PolicyInput,
  widenings: readonly Widening[],
): Result<SandboxPolicy, PolicyProblem> {
  const plain = resolvePolicy(input);
  return plain.ok && widenings.length > 0
    ? resolvePolicy({ ...input, grant: widenSettings(input.grant ?? {}, widenings, plain.value, input) })
    : plain;
}
