import type { SandboxPolicy } from '../../sandbox/policy/policy.ts';
import { isUnsandboxed } from '../../sandbox/policy/policy.ts';
import type { Widening } from '../../sandbox/policy/widening.ts';
import { isWideEnough, whyConfined } from '../../sandbox/policy/widening.ts';
import type { Judgement } from '../../sandbox/rules/judgeCommand.ts';
import type { Root } from '../roots.ts';
import type { ApprovalPolicy, QuestionKind } from './approvalPolicy.ts';
import { runsUnasked } from './approvalPolicy.ts';
import {
  dangerWords,
  escalationWords,
  forbiddenWords,
  fullAccessWords,
  ruleQuestionWords,
  untrustedWords,
  wideningWords,
} from './reasons.ts';
import type { RequestedPermissions } from './permissions.ts';
import { unaskedRefusal } from './refusals.ts';

/** Everything that has a say in whether a command runs. */
export interface DecisionInput {
  readonly judgement: Judgement;
  readonly requested: RequestedPermissions;
  readonly approval: ApprovalPolicy;
  readonly policy: SandboxPolicy;
  readonly root: Root;
}

/** What is to become of a command. `by`: who decided it. */
export type Decision =
  | { readonly kind: 'run'; readonly by: 'policy' | 'rule'; readonly widenings: readonly Widening[] }
  | { readonly kind: 'ask'; readonly question: Question }
  | {
      readonly kind: 'refuse';
      readonly by: 'policy' | 'rule';
      readonly message: string;
      readonly hint: string;
    };

export interface Question {
  readonly title: string;
  /** Sentences: why it is asked, by the nearest rule or setting. */
  readonly reason: string;
  /** What a plain yes adds to the policy for this command. */
  readonly widenings: readonly Widening[];
}

/**
 * Decides about a command, in the order of the reference: rules, dangerous and safe commands, what the approval policy
 * says of the rest. A rule that forbids is final; one that allows answers every question but the ones for more than
 * the rule gives. Nobody leaves the sandbox where the policy must hold.
 */
export function decide(input: DecisionInput): Decision {
  const { judgement, requested, approval, policy } = input;
  if (judgement.decision === 'forbidden') {
    return { kind: 'refuse', by: 'rule', ...forbiddenWords(judgement) };
  }
  const wanted = requested.widenings.filter((widening) => !isWideEnough(policy, widening));
  const confined = wanted.some(({ kind }) => kind === 'unsandboxed') ? whyConfined(policy) : undefined;
  if (confined !== undefined) {
    return {
      kind: 'refuse',
      by: 'policy',
      message: `commands of this folder may not run without a sandbox: ${confined}.`,
      hint: 'Run it in the sandbox, and ask with sandbox_permissions "with_additional_permissions" for the paths or hosts that it needs.',
    };
  }
  const more = moreThanPolicy(input, wanted);
  if (judgement.decision === 'prompt') {
    return ask(approval, [{ kind: 'rules', ...ruleQuestionWords(judgement) }, ...more], wanted);
  }
  if (judgement.decision === 'allow') {
    if (judgement.runs === 'outside' && whyConfined(policy) === undefined) {
      return { kind: 'run', by: 'rule', widenings: isUnsandboxed(policy) ? [] : [{ kind: 'unsandboxed' }] };
    }
    if (wanted.length === 0 && !(isUnsandboxed(policy) && isByGrant(judgement))) {
      return { kind: 'run', by: 'rule', widenings: [] };
    }
  }
  if (wanted.length > 0) {
    const isAllowed = judgement.decision === 'allow';
    return ask(approval, [...(isAllowed ? [] : dangers(judgement)), ...more], wanted);
  }
  return decideByClass(input);
}

/** Why somebody is asked, and which kind of question that is. */
interface Reason extends Pick<Question, 'title' | 'reason'> {
  readonly kind: QuestionKind;
}

/** What a person has to know of a command that gets more than the sandbox of its root. */
function moreThanPolicy({ policy, root }: DecisionInput, wanted: readonly Widening[]): readonly Reason[] {
  if (isUnsandboxed(policy)) {
    return [{ kind: 'sandbox', ...fullAccessWords(root) }];
  }
  if (wanted.some(({ kind }) => kind === 'unsandboxed')) {
    return [{ kind: 'sandbox', ...escalationWords(root) }];
  }
  return wanted.length === 0 ? [] : [{ kind: 'permissions', ...wideningWords(wanted, root) }];
}

/** Who granted the beginning of a command granted it in the sandbox. */
function isByGrant({ matches }: Judgement): boolean {
  return matches.some(({ rule }) => rule.decision === 'allow' && rule.origin.source === 'grant');
}

function dangers(judgement: Judgement): readonly Reason[] {
  const isDangerous = judgement.class === 'dangerous' || judgement.class === 'forced-removal';
  return isDangerous ? [{ kind: 'sandbox', ...dangerWords(judgement) }] : [];
}

function decideByClass(input: DecisionInput): Decision {
  const { judgement, approval, policy } = input;
  const run: Decision = { kind: 'run', by: 'policy', widenings: [] };
  if (isUnsandboxed(policy)) {
    // Whoever took away both the sandbox and the questions means it.
    return runsUnasked(approval) ? run : ask(approval, moreThanPolicy(input, []), []);
  }
  const danger = dangers(judgement);
  if (danger.length > 0) {
    return ask(approval, danger, []);
  }
  if (approval.mode === 'untrusted' && judgement.class !== 'safe') {
    return ask(approval, [{ kind: 'sandbox', ...untrustedWords(judgement) }], []);
  }
  return run;
}

/**
 * One question for all reasons, whose title is that of the last and heaviest. One that is not to be put to a person
 * is answered with no, whatever else is asked with it.
 */
function ask(approval: ApprovalPolicy, reasons: readonly Reason[], widenings: readonly Widening[]): Decision {
  const title = reasons.at(-1)?.title ?? '';
  const reason = reasons.map((one) => one.reason).join(' ');
  const unasked = reasons.find(({ kind }) => !approval.asks[kind]);
  return unasked === undefined
    ? { kind: 'ask', question: { title, reason, widenings } }
    : { kind: 'refuse', by: 'policy', ...unaskedRefusal(approval, unasked.kind, unasked) };
}
