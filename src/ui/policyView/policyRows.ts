import type { Result } from '../../base/result.ts';
import type { ApprovalPolicy } from '../../runtime/approvals/approvalPolicy.ts';
import type { Grant } from '../../runtime/approvals/grant.ts';
import type { PolicyError } from '../../runtime/roots.ts';
import type { SandboxPolicy } from '../../sandbox/policy/policy.ts';
import type { RuleSet } from '../../sandbox/rules/rule.ts';
import { clauseRows } from './clauseRows.ts';
import { approvalsRow, grantsRow, problemRows, rulesRow } from './decisionRows.ts';
import type { PolicyRow } from './policyRow.ts';

/** Everything that holds in one root. */
export interface RootState {
  readonly policy: Result<SandboxPolicy, PolicyError>;
  readonly approval: Result<ApprovalPolicy, PolicyError>;
  readonly rules: RuleSet;
  readonly grants: readonly Grant[];
  /** Undefined when commands run on another machine. */
  readonly parentEnv: Readonly<Record<string, string | undefined>> | undefined;
  readonly now: Date;
}

/** What holds in a root, clause by clause; of an invalid policy, what is wrong in place of its clauses. */
export function policyRows(state: RootState): readonly PolicyRow[] {
  const { policy, approval, rules, grants, parentEnv, now } = state;
  return [
    ...(policy.ok ? clauseRows(policy.value, parentEnv) : problemRows('policy', policy.error)),
    approvalsRow(approval),
    rulesRow(rules),
    grantsRow(grants, now),
  ];
}
