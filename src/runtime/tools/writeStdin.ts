import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import type { Approvals } from '../approvals/approvals.ts';
import type { ApprovalRequest } from '../approvals/approval.ts';
import { runsUnasked } from '../approvals/approvalPolicy.ts';
import { offersBefore } from '../approvals/offers.ts';
import { refusalFor, unaskedRefusal } from '../approvals/refusals.ts';
import type { RefusedCommand } from '../places.ts';
import type { Roots } from '../roots.ts';
import { waitForYield } from '../sessions/answer.ts';
import type { Session } from '../sessions/session.ts';
import { outputForms } from '../sessions/session.ts';
import type { SessionManager } from '../sessions/sessionManager.ts';
import { abortedResult, answerResult } from './answerResult.ts';
import { clampPoll, clampYield, outputTokens } from './limits.ts';
import type { Confirmation, Tool, ToolResult } from './tool.ts';
import { toolError } from './tool.ts';

const interrupt = '\u0003';
/** As in the reference: a terminal's answer to what was typed is given this long before it is gathered. */
const echoPauseMs = 100;

export const writeStdinSchema = z.object({
  session_id: z.number().int('must be a whole number').describe('The session, as exec_command gave it.'),
  chars: z
    .string()
    .default('')
    .describe(
      'Characters to type, control characters included (\\u0003 interrupts). Empty polls for output.',
    ),
  yield_time_ms: z
    .number()
    .optional()
    .describe(
      'How long to gather output, in milliseconds: 250 to 30000 (default 250) with chars, 5000 to 300000 (default 5000) when polling. The end of the process answers at once.',
    ),
  max_output_tokens: outputTokens,
  output: z
    .enum(outputForms)
    .optional()
    .describe(
      'screen: the text a person would see that changed since the last answer (default with a tty). stream: the raw output.',
    ),
});
export type WriteStdinInput = z.infer<typeof writeStdinSchema>;

export interface WriteStdinOptions {
  readonly sessions: SessionManager;
  readonly roots: Roots;
  readonly approvals: Approvals;
}

/** Types into a session, or polls it; answers with the output since the last answer. */
export function createWriteStdinTool({
  sessions,
  roots,
  approvals,
}: WriteStdinOptions): Tool<WriteStdinInput> {
  return {
    name: 'write_stdin',
    inputSchema: writeStdinSchema,
    invocationMessage: ({ session_id, chars }) =>
      chars === '' ? `Waiting for session ${session_id}` : `Typing into session ${session_id}`,
    async confirmation({ session_id, chars }) {
      await sessions.restored;
      const session = sessions.get(session_id);
      const typing = session && decideTyping(session, chars, roots);
      return typing?.kind === 'ask' ? typing.question : undefined;
    },

    async invoke(input, context): Promise<ToolResult> {
      const startedAt = performance.now();
      await sessions.restored;
      const session = sessions.use(input.session_id);
      if (session === undefined) {
        return toolError('write_stdin', {
          message: `Unknown process id ${input.session_id}`,
          hint: 'It has finished and its output was returned, or it never existed: see list_sessions.',
        });
      }
      const typing = decideTyping(session, input.chars, roots);
      if (typing.kind === 'refuse') {
        return toolError('write_stdin', typing);
      }
      const isAnswered = (question: Confirmation): boolean =>
        approvals.remembers(question.scope) || context.wasConfirmed(question);
      if (typing.kind === 'ask' && !isAnswered(typing.question)) {
        const answer = await approvals.ask(
          requestToType(session, input.chars, typing.question, context.owner),
          context.signal,
        );
        if (answer.kind === 'deny') {
          return toolError('write_stdin', refusalFor(answer, { reason: typing.question.title }));
        }
      }
      if (input.chars !== '' && !type(session, input.chars)) {
        return toolError('write_stdin', {
          message: 'stdin is closed for this session; rerun exec_command with tty=true to keep stdin open',
          hint: `Only \\u0003 (interrupt) reaches a session without a terminal.`,
        });
      }
      if (input.chars !== '' && session.isTty) {
        await delay(echoPauseMs);
      }
      const request = {
        yieldMs:
          input.chars === ''
            ? clampPoll(input.yield_time_ms ?? 5_000)
            : clampYield(input.yield_time_ms ?? 250),
        maxTokens: input.max_output_tokens,
        form: input.output ?? (session.isTty ? 'screen' : 'stream'),
        signal: context.signal,
      } as const;
      await waitForYield(session, request);
      // Only the waiting ends when the caller gives up: the session and its output stay for the next call.
      return context.signal.aborted
        ? abortedResult(session, performance.now() - startedAt)
        : answerResult(sessions, session, request, performance.now() - startedAt);
    },
  };
}

/** False when the session takes no input. A finished session is not an error: its rest is still to be read. */
function type(session: Session, chars: string): boolean {
  if (session.state.kind === 'exited') {
    return true;
  }
  if (!session.isTty) {
    return chars === interrupt && session.interrupt();
  }
  return session.write(chars);
}

type Typing =
  | { readonly kind: 'run' }
  | { readonly kind: 'ask'; readonly question: Confirmation }
  | ({ readonly kind: 'refuse' } & RefusedCommand);

/** Typing runs commands as much as a command line does, so without a sandbox it is decided about as one. */
function decideTyping(session: Session, chars: string, roots: Roots): Typing {
  if (chars === '' || chars === interrupt) {
    return { kind: 'run' };
  }
  if (hasOutlivedTrust(session, roots)) {
    return {
      kind: 'refuse',
      message: `the workspace is not trusted any more, and session ${session.id} may do what was allowed while it was.`,
      hint: 'Run the command anew, which only reads then; or ask the person to trust the workspace. Polls and \\u0003 work.',
    };
  }
  if (!session.isUnsandboxed) {
    return { kind: 'run' };
  }
  const approval = roots.approvalPolicyFor(session.root);
  if (!approval.ok) {
    return { kind: 'refuse', ...approval.error };
  }
  if (runsUnasked(approval.value)) {
    return { kind: 'run' };
  }
  return approval.value.asks.sandbox
    ? { kind: 'ask', question: questionAbout(session, chars) }
    : { kind: 'refuse', ...unaskedRefusal(approval.value, 'sandbox', { reason: withoutSandbox }) };
}

/** Sessions outlive the window, and with it the trust under which they were started. */
function hasOutlivedTrust({ root, policy }: Session, roots: Roots): boolean {
  const settings = roots.settingsFor?.(root);
  return settings?.ok === true && !settings.value.isTrusted && policy.sources.mode !== 'untrusted';
}

const withoutSandbox =
  'This session has no sandbox: what is typed can change any file of yours and reach the network.';

function questionAbout({ id, startedAt, commandLine }: Session, chars: string): Confirmation {
  return {
    title: 'Type without a sandbox?',
    scope: JSON.stringify({ session: id, startedAt, chars }),
    message: `${JSON.stringify(chars)}\n\ntyped into: ${commandLine}\n\n${withoutSandbox}`,
  };
}

function requestToType(
  session: Session,
  chars: string,
  { title, message, scope }: Confirmation,
  owner: string,
): ApprovalRequest {
  return {
    owner,
    root: session.root,
    commandLine: chars,
    cwd: session.cwd,
    title,
    reason: message,
    offers: offersBefore({ widenings: [], prefix: undefined, root: session.root }),
    scope,
  };
}
