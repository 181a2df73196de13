import { isGivable } from '../../runtime/approvals/givable.ts';
import type { DenialRecord } from '../../runtime/denials/denialLog.ts';
import type { Denial } from '../../sandbox/denials/denial.ts';
import type { PolicyClause, SandboxPolicy } from '../../sandbox/policy/policy.ts';
import type { Widening } from '../../sandbox/policy/widening.ts';
import { isWideEnough } from '../../sandbox/policy/widening.ts';
import type { PolicyStore } from '../policyStore.ts';
import { denialCure, sourceWords } from '../policyWords.ts';

/** What a person can do about a denial now. */
export type Cure =
  /** Each of the fixes would still help. */
  | { readonly kind: 'grant'; readonly fixes: readonly Widening[] }
  /** The policy allows it meanwhile. */
  | { readonly kind: 'allowed' }
  | { readonly kind: 'advice'; readonly text: string };

/** Tries the grants that a denial names against the policy of now: what would not help is not offered. */
export function cureOf(record: DenialRecord, policies: Pick<PolicyStore, 'policyFor'>): Cure {
  const { root, denial, fixes } = record;
  const policy = policies.policyFor(root);
  if (!policy.ok) {
    return { kind: 'advice', text: `${policy.error.message} ${policy.error.hint}` };
  }
  const missing = fixes.filter((fix) => !isWideEnough(policy.value, fix));
  if (fixes.length > 0 && missing.length === 0) {
    return { kind: 'allowed' };
  }
  const helpful = missing.filter((fix) => isGivable(policies, root, fix));
  return helpful.length > 0
    ? { kind: 'grant', fixes: helpful }
    : { kind: 'advice', text: whyNoGrant(policy.value, denial, missing) ?? denialCure(denial.clause) };
}

/** Who narrows what would have to be opened. */
function whyNoGrant(
  { sources }: SandboxPolicy,
  { clause }: Denial,
  missing: readonly Widening[],
): string | undefined {
  const clauses = [
    ...(clause === undefined ? [] : [clause]),
    ...missing.flatMap(({ kind }) => clausesOf[kind]),
  ];
  const narrowing = clauses
    .map((name) => sources[name])
    .find((source) => source === 'managed' || source === 'workspace' || source === 'untrusted');
  return narrowing && `No grant helps here: ${sourceWords[narrowing]}.`;
}

const clausesOf: Readonly<Record<Widening['kind'], readonly PolicyClause[]>> = {
  path: ['files', 'mode'],
  host: ['hosts', 'network'],
  socket: ['sockets'],
  network: ['network'],
  mode: ['mode'],
  unsandboxed: ['mode'],
};
