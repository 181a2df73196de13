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
  if (judgement.decision === 'prompt') {
    return ask(approval, 'rules', ruleQuestionWords(judgement), wanted);
  }
  if (judgement.decision === 'allow') {
    if (judgement.runs === 'outside' && whyConfined(policy) === undefined) {
      return { kind: 'run', by: 'rule', widenings: isUnsandboxed(policy) ? [] : [{ kind: 'unsandboxed' }] };
    }
    if (wanted.length === 0) {
      return { kind: 'run', by: 'rule', widenings: [] };
    }
  }
  if (wanted.length > 0) {
    const leaves = wanted.some(({ kind }) => kind === 'unsandboxed');
    return leaves
      ? ask(approval, 'sandbox', escalationWords(input.root), wanted)
      : ask(approval, 'permissions', wideningWords(wanted, input.root), wanted);
  }
  return decideByClass(input);
}

function decideByClass({ judgement, approval, policy, root }: DecisionInput): Decision {
  const run: Decision = { kind: 'run', by: 'policy', widenings: [] };
  if (isUnsandboxed(policy)) {
    // Whoever took away both the sandbox and the questions means it.
    return runsUnasked(approval) ? run : ask(approval, 'sandbox', fullAccessWords(root), []);
  }
  if (judgement.class === 'dangerous' || judgement.class === 'forced-removal') {
    return ask(approval, 'sandbox', dangerWords(judgement), []);
  }
  if (approval.mode === 'untrusted' && judgement.class !== 'safe') {
    return ask(approval, 'sandbox', untrustedWords(judgement), []);
  }
  return run;
}

/** A question that is not to be put to a person is answered with no. */
function ask(
  approval: ApprovalPolicy,
  kind: QuestionKind,
  words: Pick<Question, 'title' | 'reason'>,
  widenings: readonly Widening[],
): Decision {
  return approval.asks[kind]
    ? { kind: 'ask', question: { ...words, widenings } }
    : { kind: 'refuse', by: 'policy', ...unaskedRefusal(approval, kind, words) };
}
