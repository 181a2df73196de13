import { isUnsandboxed } from '../../sandbox/policy/policy.ts';
import type { Widening } from '../../sandbox/policy/widening.ts';
import { isWideEnough, whyConfined } from '../../sandbox/policy/widening.ts';
import type { Root, Roots } from '../roots.ts';

type Policies = Pick<Roots, 'policyFor'>;

/** Whether a widening would help in a root on top of others: nothing stricter takes it back. */
export function isGivable(
  policies: Policies,
  root: Root,
  widening: Widening,
  others: readonly Widening[] = [],
): boolean {
  const widened = policies.policyFor(root, [...others, widening]);
  return widened.ok && isWideEnough(widened.value, widening);
}

/** Whether a person may take a command of the root out of the sandbox. */
export function mayLeaveSandbox(policies: Policies, root: Root): boolean {
  const policy = policies.policyFor(root);
  const open = policies.policyFor(root, [{ kind: 'unsandboxed' }]);
  return policy.ok && whyConfined(policy.value) === undefined && open.ok && isUnsandboxed(open.value);
}
