import { quoteWords } from '../../sandbox/commands/quoteWords.ts';
import type { Denial } from '../../sandbox/denials/denial.ts';
import { isUnsandboxed } from '../../sandbox/policy/policy.ts';
import type { Widening } from '../../sandbox/policy/widening.ts';
import type { JudgedCommand, JudgedPart } from '../orchestrator.ts';
import type { Confirmation, ToolContext } from '../tools/tool.ts';
import type { Answer, ApprovalRequest } from './approval.ts';
import type { Approvals } from './approvals.ts';
import type { Question } from './decide.ts';
import type { PartQuestion } from './decidePart.ts';
import { offersAfter, offersBefore, offersForPart } from './offers.ts';
import { pathWords } from './wideningWords.ts';

/** Enough to recognize it. */
const longestScript = 300;

const once = (widenings: readonly Widening[]): Answer => ({ kind: 'allow', widenings, lasts: 'once' });

/** Puts questions about commands to a person, in the caller's own card or among the approvals. */
export class Consent {
  readonly #approvals: Approvals;

  constructor(approvals: Approvals) {
    this.#approvals = approvals;
  }

  /** What the caller's card has to ask; undefined when this was said before. */
  confirmation(judged: JudgedCommand, question: Question): Confirmation | undefined {
    return this.#approvals.remembers(scopeOf(judged, question.widenings))
      ? undefined
      : confirmationOf(judged, question);
  }

  /** Asks whether a command may run, unless the card has, or the person has said it for the whole session. */
  async before(judged: JudgedCommand, question: Question, context: ToolContext): Promise<Answer> {
    const scope = scopeOf(judged, question.widenings);
    if (this.#approvals.remembers(scope) || context.wasConfirmed(confirmationOf(judged, question))) {
      return once(question.widenings);
    }
    return this.#approvals.ask(
      {
        ...about(judged, context),
        title: question.title,
        reason: reasonFor(judged, question.reason),
        offers: offersBefore({
          widenings: question.widenings,
          prefix: isUnsandboxed(judged.policy) ? undefined : judged.judgement.suggestion,
          root: judged.root,
        }),
        scope,
      },
      context.signal,
    );
  }

  /** Asks whether a program of a script may run, unless the person has said it of exactly this for the whole session. */
  async ofPart(
    { argv, cwd, root, policy, script }: JudgedPart,
    { title, reason, widenings, mayLeave }: PartQuestion,
    { owner, signal }: Pick<ToolContext, 'owner' | 'signal'>,
  ): Promise<Answer> {
    const scope = JSON.stringify({
      part: argv,
      root: root.path,
      environment: root.environment,
      cwd,
      mode: policy.mode,
      widenings,
    });
    if (this.#approvals.remembers(scope)) {
      return once(widenings);
    }
    return this.#approvals.ask(
      {
        owner,
        root,
        cwd,
        commandLine: quoteWords(argv),
        title,
        reason: `${reason} It is part of: ${script.slice(0, longestScript)}`,
        offers: offersForPart({ widenings, mayLeave }),
        scope,
      },
      signal,
    );
  }

  /** Asks whether a command that the sandbox stopped may run again with what would have let it through. */
  async after(
    judged: JudgedCommand,
    denial: Denial,
    { fixes, mayLeave }: { readonly fixes: readonly Widening[]; readonly mayLeave: boolean },
    context: ToolContext,
  ): Promise<Answer> {
    return this.#approvals.ask(
      {
        ...about(judged, context),
        title: fixes.length === 0 ? 'Run again without the sandbox?' : 'Allow this, and run again?',
        reason: reasonFor(judged, denial.message),
        offers: offersAfter(fixes, { root: judged.root, mayLeave }),
        scope: scopeOf(judged, fixes),
      },
      context.signal,
    );
  }
}

/** The command on a line of its own, as text for a card. The agent's own words cannot look like another paragraph. */
function confirmationOf(judged: JudgedCommand, { title, reason, widenings }: Question): Confirmation {
  const { request, requested, cwd, root } = judged;
  const machine = root.environment === undefined ? '' : ` on ${pathWords(root.environment)}`;
  const said = requested.justification?.replaceAll(/\s+/g, ' ');
  const words = said === undefined ? [] : [`The agent says: “${said}”`];
  return {
    title,
    message: [
      request.cmd,
      `It runs in ${pathWords(cwd)}${machine}.`,
      reasonFor(judged, reason),
      ...words,
    ].join('\n\n'),
    scope: scopeOf(judged, widenings),
  };
}

/** Another shell than the person's own takes the same words for something else. */
function reasonFor({ request, shell }: JudgedCommand, reason: string): string {
  return request.shell === undefined ? reason : `${reason} The agent wants ${pathWords(shell)} to read it.`;
}

function about(
  { request, requested, root, cwd }: JudgedCommand,
  { owner }: ToolContext,
): Pick<ApprovalRequest, 'owner' | 'root' | 'commandLine' | 'cwd' | 'justification'> {
  return {
    owner,
    root,
    cwd,
    commandLine: request.cmd,
    ...(requested.justification !== undefined && { justification: requested.justification }),
  };
}

/** Exactly what a yes is for: the same words in another folder, or another shell, are another question. */
function scopeOf(
  { request, root, cwd, shell, policy }: JudgedCommand,
  widenings: readonly Widening[],
): string {
  const { cmd, login, isTty } = request;
  return JSON.stringify({
    root: root.path,
    environment: root.environment,
    cwd,
    shell,
    login,
    isTty,
    cmd,
    mode: policy.mode,
    widenings,
  });
}
