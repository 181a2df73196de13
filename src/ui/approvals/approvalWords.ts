import type { Approval } from '../../runtime/approvals/approval.ts';
import { oneLine, visibleText } from '../oneLine.ts';

// What a person reads and hears about questions.

const minuteMs = 60_000;
/** Near the end it is told in steps of this. */
const lastStepMs = 10_000;

/** How long a question still waits. */
export function timeLeft(expiresAt: number, now: number): string {
  const leftMs = Math.max(0, expiresAt - now);
  return leftMs > minuteMs
    ? `${Math.ceil(leftMs / minuteMs)} min left`
    : `${Math.ceil(leftMs / lastStepMs) * 10} s left`;
}

/** In how many milliseconds {@link timeLeft} says something else; undefined when it never does again. */
export function nextChangeMs(expiresAt: number, now: number): number | undefined {
  const leftMs = expiresAt - now;
  if (leftMs <= 0) {
    return undefined;
  }
  const stepMs = leftMs > minuteMs ? minuteMs : lastStepMs;
  return leftMs % stepMs || stepMs;
}

/** How long it waits, or why it does not: the beginning of a row, whose end a narrow side bar cuts off. */
export function waitingWords({ state, expiresAt }: Approval, now: number): string {
  return state === 'interrupted' ? 'from before the reload' : timeLeft(expiresAt, now);
}

/** What a row says beside that. `rootName` is empty where there is only one root. */
export function approvalWords({ title, owner, commandLine }: Approval, rootName: string): string {
  const command = oneLine(commandLine, maxCommandLength).text;
  return [command, title, rootName, owner].filter((part) => part !== '').join(' · ');
}

const maxCommandLength = 120;

/** The parts of a tooltip in order; the command stands between the first and the others. */
export function approvalFacts({
  root,
  cwd,
  owner,
  reason,
  justification,
  state,
}: Approval): readonly string[] {
  const place = cwd === root.path ? root.name : `${root.name}, in ${cwd}`;
  return [
    `${owner} asks, in ${visible(place)}.`,
    visible(reason),
    ...(justification === undefined
      ? []
      : [`In the agent’s own words: “${oneLine(justification, 1_000).text}”`]),
    ...(state === 'interrupted' ? [interruptedWords] : []),
  ];
}

/** A longer path or rule than this is none that a person reads. */
const maxSentenceLength = 6_000;

const interruptedWords =
  'The call that asked ended with the reload. Your answer counts for the next one that asks exactly the same.';

/** The whole question as a page. */
export function approvalPage(approval: Approval): string {
  const { title, commandLine, cwd, offers } = approval;
  return [
    `# ${title}`,
    ...approvalFacts(approval),
    '## The command',
    fenced(commandLine),
    `It runs in ${visible(cwd)}.`,
    '## The answers',
    ...offers.map(({ label, detail }) => `- **${visible(label)}**: ${visible(detail)}`),
    'Answer with “Cordon: Answer Approval…”.',
    '',
  ].join('\n\n');
}

function visible(text: string): string {
  return oneLine(text, maxSentenceLength).text;
}

/** With a fence that is longer than any in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return [fence, visibleText(text), fence].join('\n');
}

export function countQuestions(count: number): string {
  return `${count} ${count === 1 ? 'question waits' : 'questions wait'} for you`;
}
