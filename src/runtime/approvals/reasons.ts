import type { Widening } from '../../sandbox/policy/widening.ts';
import { opaqueReasons } from '../../sandbox/commands/opaqueReason.ts';
import type { Judgement } from '../../sandbox/rules/judgeCommand.ts';
import type { PrefixRule } from '../../sandbox/rules/rule.ts';
import { formatPattern } from '../../sandbox/rules/rule.ts';
import type { Root } from '../roots.ts';
import type { Question } from './decide.ts';
import { describeWidenings } from './wideningWords.ts';

/** The short question of a card or notification, and why it is asked. */
type Words = Pick<Question, 'title' | 'reason'>;

export function forbiddenWords({ matches, problem }: Judgement): {
  readonly message: string;
  readonly hint: string;
} {
  const match = matches.find(({ rule }) => rule.decision === 'forbidden');
  return match === undefined
    ? {
        message: problem?.message ?? 'a rule forbids it.',
        hint: 'Nothing runs in this folder until the rules can be read.',
      }
    : {
        message: `${ruleName(match.rule)} forbids ${match.words.join(' ')}.${because(match.rule)}`,
        hint: 'Do not try it in other words: the rule is a decision of the person. Find another way, or ask.',
      };
}

export function ruleQuestionWords({ matches, problem }: Judgement): Words {
  const rule = matches.find((match) => match.rule.decision === 'prompt')?.rule;
  return {
    title: 'Run this command?',
    reason:
      rule === undefined && problem !== undefined
        ? `${problem.message} Until these rules can be read, every command is asked about that is not known to be harmless.`
        : `${ruleName(rule)} asks before commands like this.${because(rule)}`,
  };
}

export function escalationWords(root: Root): Words {
  return {
    title: 'Run without a sandbox?',
    reason: `The agent asks to leave the sandbox of ${root.name} for this command: it can then change any file of yours and reach every network.`,
  };
}

export function wideningWords(widenings: readonly Widening[], root: Root): Words {
  return {
    title: 'Allow more for this command?',
    reason: `The agent asks for more than ${root.name} allows: ${describeWidenings(widenings)}.`,
  };
}

export function fullAccessWords(root: Root): Words {
  return {
    title: 'Run without a sandbox?',
    reason: `The folder ${root.name} is set to full access: this can change any file of yours and reach the network.`,
  };
}

export function dangerWords(judgement: Judgement): Words {
  const what =
    judgement.class === 'forced-removal'
      ? 'It removes files without asking (rm -f).'
      : 'It is on the list of dangerous commands.';
  return { title: 'Run this dangerous command?', reason: `${what}${nearest(judgement)}` };
}

export function untrustedWords(judgement: Judgement): Words {
  const { line } = judgement.read;
  const what =
    line.kind === 'opaque'
      ? `What it runs cannot be told for certain, because it ${opaqueReasons[line.reason]}: neither rules that allow nor the list of harmless commands apply.`
      : 'It is not on the list of harmless commands, and no rule allows it.';
  return {
    title: 'Run this command?',
    reason: `${what} cordon.approvals.policy is "untrusted".${nearest(judgement)}`,
  };
}

function nearest({ nearest: rule }: Judgement): string {
  return rule === undefined ? '' : ` ${ruleName(rule)} comes nearest, but does not match.`;
}

function ruleName(rule: PrefixRule | undefined): string {
  return rule === undefined ? 'A rule' : `The rule “${formatPattern(rule.pattern)}” (${rule.origin.place})`;
}

function because(rule: PrefixRule | undefined): string {
  return rule?.justification === undefined ? '' : ` ${rule.justification}`;
}
