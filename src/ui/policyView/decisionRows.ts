import type { Result } from '../../base/result.ts';
import type { ApprovalPolicy } from '../../runtime/approvals/approvalPolicy.ts';
import { questionKinds } from '../../runtime/approvals/approvalPolicy.ts';
import type { Grant } from '../../runtime/approvals/grant.ts';
import type { PolicyError } from '../../runtime/roots.ts';
import type { PrefixRule, RuleDecision, RuleProblem, RuleSet } from '../../sandbox/rules/rule.ts';
import { formatPattern } from '../../sandbox/rules/rule.ts';
import { grantEnd, grantLabel, grantOrigin } from '../grants/grantWords.ts';
import { approvalModeWords, questionWords } from '../policyWords.ts';
import { changeOf, correctionOf, placeOfRule } from './change.ts';
import type { PolicyRow } from './policyRow.ts';
import { counted, row } from './policyRow.ts';

// What decides before a command runs, and what a person granted.

/** When a person is asked, or what is wrong with the setting. */
export function approvalsRow(approval: Result<ApprovalPolicy, PolicyError>): PolicyRow {
  const facts = { id: 'approvals', label: 'Approvals' };
  if (!approval.ok) {
    return row({
      ...facts,
      value: 'invalid setting',
      detail: [approval.error.message],
      icon: 'error',
      tone: 'error',
      rows: problemRows('approvals', approval.error),
    });
  }
  const { mode, asks, source } = approval.value;
  const { label, detail } = approvalModeWords[mode];
  return row({
    ...facts,
    value: label,
    source,
    detail: [detail],
    icon: 'question',
    change: changeOf(source, 'cordon.approvals.policy'),
    rows:
      mode !== 'granular'
        ? []
        : questionKinds.map((kind) =>
            row({
              id: `approvals/${kind}`,
              label: questionWords[kind].label,
              value: asks[kind] ? 'you are asked' : 'answered with no',
              detail: [questionWords[kind].detail],
              icon: asks[kind] ? 'question' : 'circle-slash',
              change: changeOf(source, 'cordon.approvals.granular'),
            }),
          ),
  });
}

/** What is wrong with a setting, and what to do about it. */
export function problemRows(
  id: string,
  { field, message, hint }: PolicyError,
): readonly [PolicyRow, PolicyRow] {
  const change = correctionOf(field);
  const detail = [message, hint];
  return [
    row({
      id: `${id}/problem`,
      label: field,
      value: message,
      detail,
      icon: 'error',
      tone: 'error',
      ...(change && { change }),
    }),
    row({ id: `${id}/hint`, label: hint, detail, icon: 'lightbulb', ...(change && { change }) }),
  ];
}

/** The rules about commands, problems first. */
export function rulesRow({ prefixes, networks, problems }: RuleSet): PolicyRow {
  const count = prefixes.length + networks.length;
  const isBroken = problems.length > 0;
  return row({
    id: 'rules',
    label: 'Rules',
    value: isBroken ? counted(problems.length, 'problem') : counted(count, 'rule'),
    detail: ['Rules decide about commands by how these begin. The strictest one that matches holds.'],
    icon: isBroken ? 'error' : 'law',
    ...(isBroken && { tone: 'error' }),
    change: { kind: 'setting', name: 'cordon.rules' },
    rows: [
      ...problems.map(ruleProblemRow),
      ...prefixes.map(prefixRow),
      ...networks.map((rule, index) =>
        ruleRow(
          `rules/network ${index}`,
          `${rule.protocol}://${rule.host}`,
          decisionWords[rule.decision],
          rule,
        ),
      ),
    ],
  });
}

const decisionWords: Readonly<Record<RuleDecision, string>> = {
  allow: 'allowed',
  prompt: 'you are asked',
  forbidden: 'forbidden',
};

const decisionIcons: Readonly<Record<RuleDecision, string>> = {
  allow: 'pass',
  prompt: 'question',
  forbidden: 'circle-slash',
};

function ruleProblemRow({ source, place, message }: RuleProblem, index: number): PolicyRow {
  const change = placeOfRule({ source, place });
  return row({
    id: `rules/problem ${index}`,
    label: place,
    value: message,
    detail: [message],
    icon: 'error',
    tone: 'error',
    ...(change && { change }),
  });
}

function prefixRow(rule: PrefixRule, index: number): PolicyRow {
  const reach = rule.decision === 'allow' && rule.runs === 'outside' ? ', without a sandbox' : '';
  return ruleRow(
    `rules/prefix ${index}`,
    formatPattern(rule.pattern),
    `${decisionWords[rule.decision]}${reach}`,
    rule,
  );
}

function ruleRow(
  id: string,
  label: string,
  value: string,
  { decision, justification, origin }: Pick<PrefixRule, 'decision' | 'justification' | 'origin'>,
): PolicyRow {
  const change = placeOfRule(origin);
  return row({
    id,
    label,
    value: `${value} · ${origin.place}`,
    detail: [`${value}, by ${origin.place}.`, ...(justification === undefined ? [] : [justification])],
    icon: decisionIcons[decision],
    ...(change && { change }),
  });
}

/** The grants that are in force, each with its end. */
export function grantsRow(grants: readonly Grant[], now: Date): PolicyRow {
  return row({
    id: 'grants',
    label: 'Grants',
    value: grants.length === 0 ? 'none' : `${grants.length} in force`,
    detail: [
      'What you allowed beyond the settings. Where the workspace or an administrator is stricter, it does not count.',
    ],
    icon: 'unlock',
    rows: grants.map((grant) =>
      row({
        id: `grants/${grant.id}`,
        label: grantLabel(grant),
        value: `${grantEnd(grant, now)} · for “${grant.because}”`,
        detail: [grantOrigin(grant, now), grantEnd(grant, now)],
        icon: 'unlock',
        grant,
      }),
    ),
  });
}
