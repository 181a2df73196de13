import type { Widening } from '../../sandbox/policy/widening.ts';
import type { DecisionInput, Question } from './decide.ts';
import { decide } from './decide.ts';
import { noPermissions } from './permissions.ts';

/** What is to become of one program of a script. `inside`: it runs as it would have anyway. */
export type PartDecision =
  | { readonly kind: 'inside' }
  | { readonly kind: 'outside' }
  | { readonly kind: 'refuse'; readonly message: string; readonly hint: string }
  | { readonly kind: 'ask'; readonly question: PartQuestion };

/** What can be done for a part beyond the sandbox of its script. */
export interface Ways {
  /** What its words name and the policy does not open. */
  readonly widenings: readonly Widening[];
  readonly mayLeave: boolean;
  /** Why there is none; absent when there is no reason but the policy. */
  readonly obstacle?: string;
}

export interface PartQuestion extends Question {
  readonly mayLeave: boolean;
}

/**
 * Decides about a part by the rules, as {@link decide} does about whole commands. What no rule speaks of, and what
 * nobody is to be asked about, stays in the sandbox of its script, where it cannot do more than that.
 */
export function decidePart(input: Omit<DecisionInput, 'requested'>, ways: Ways): PartDecision {
  const decision = decide({ ...input, requested: noPermissions });
  switch (decision.kind) {
    case 'refuse':
      return decision.by === 'rule' ? decision : { kind: 'inside' };
    case 'run': {
      const leaves = decision.widenings.some(({ kind }) => kind === 'unsandboxed');
      return { kind: leaves && ways.mayLeave ? 'outside' : 'inside' };
    }
    case 'ask':
      return input.judgement.decision === 'prompt'
        ? { kind: 'ask', question: partQuestion(decision.question, ways) }
        : { kind: 'inside' };
  }
}

function partQuestion({ reason }: Question, { widenings, mayLeave, obstacle }: Ways): PartQuestion {
  return {
    title: 'Run this part of the script?',
    reason:
      obstacle === undefined
        ? reason
        : `${reason} It can only run in the sandbox of its script: ${obstacle}.`,
    widenings,
    mayLeave,
  };
}
