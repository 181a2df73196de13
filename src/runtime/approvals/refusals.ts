import type { RefusedCommand } from '../places.ts';
import type { Denied } from './approval.ts';
import type { ApprovalPolicy, QuestionKind } from './approvalPolicy.ts';
import type { Question } from './decide.ts';

/** What a no means for the agent, and what to do now. */
export function refusalFor({ by, comment }: Denied, { reason }: Pick<Question, 'reason'>): RefusedCommand {
  const words = comment === undefined || comment === '' ? '' : ` Comment of the person: ${comment}`;
  switch (by) {
    case 'person':
      return {
        message: `the person declined.${words}`,
        hint: 'Do not retry the same command in other words. Do without it, or ask the person what to do instead.',
      };
    case 'expired':
      return {
        message: `nobody answered in time, so nothing ran. Why a person was asked: ${reason}`,
        hint: 'Go on with what needs no answer, and tell the person what you could not do.',
      };
    case 'nobody':
      return {
        message: `a person would have to agree, and there is nobody to ask here. ${reason}`,
        hint: withoutAgreement,
      };
    case 'gone':
      return { message: 'the call was cancelled before anybody answered.', hint: 'Nothing ran.' };
  }
}

/** Why nobody is asked at all, and what to do now. */
export function unaskedRefusal(
  { mode }: ApprovalPolicy,
  kind: QuestionKind,
  { reason }: Pick<Question, 'reason'>,
): RefusedCommand {
  const setting =
    mode === 'granular' ? `cordon.approvals.granular.${kind} is off` : `cordon.approvals.policy is "${mode}"`;
  return {
    message: `a person would have to agree, and none is asked (${setting}). ${reason}`,
    hint: withoutAgreement,
  };
}

const withoutAgreement =
  'Find a way that needs no agreement, or tell the person what you could not do, and why.';

/** What a no to another run means for the agent, which also gets the answer of the run that was stopped. */
export function refusalAfter({ by, comment }: Denied): string | undefined {
  const asked = 'The person was asked whether it may run again with what it lacked';
  const words = comment === undefined || comment === '' ? '' : ` Comment of the person: ${comment}`;
  switch (by) {
    case 'person':
      return `${asked}, and declined.${words} Do not ask for it again, also where it says below how to ask: do without it, or ask the person what to do instead.`;
    case 'expired':
      return `${asked}; nobody answered in time. Go on with what needs no answer, and tell the person what you could not do.`;
    case 'nobody':
    case 'gone':
      return undefined;
  }
}
