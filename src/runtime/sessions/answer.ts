import { randomBytes } from 'node:crypto';
import { findingLines } from '../../sandbox/aftermath/findingLines.ts';
import { mostDenials } from '../../sandbox/denials/denial.ts';
import type { OutputForm, Session } from './session.ts';

export interface AnswerRequest {
  /** How long to gather output from a session that goes on, in milliseconds. */
  readonly yieldMs: number;
  readonly maxTokens: number;
  readonly form: OutputForm;
  readonly signal: AbortSignal;
}

/** Waits for the session's end, at most for the yield time or until the caller gives up. */
export async function waitForYield(session: Session, { yieldMs, signal }: AnswerRequest): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, yieldMs);
  signal.addEventListener('abort', () => resolve(), { once: true });
  if (signal.aborted) {
    // Given up while the command was being started, which takes a while on another machine.
    resolve();
  }
  await Promise.race([session.closed, promise]);
  clearTimeout(timer);
  if (session.state.kind === 'exited' && !signal.aborted) {
    // Exited but not drained: the rest of the output is due within the drain time.
    await session.closed;
  }
}

/** The answer text of the reference, with lines more when the sandbox stopped something or disarmed what was left. */
export async function composeAnswer(
  session: Session,
  request: AnswerRequest,
  wallTimeMs: number,
): Promise<string> {
  const { text, originalTokens } = await session.takeAnswer(request.form, request.maxTokens);
  const { state } = session;
  return [
    `Chunk ID: ${randomBytes(3).toString('hex')}`,
    `Wall time: ${(wallTimeMs / 1_000).toFixed(4)} seconds`,
    state.kind === 'exited'
      ? `Process exited with code ${state.exitCode}`
      : `Process running with session ID ${session.id}`,
    ...(state.kind === 'exited' && state.failure !== undefined ? [`Lost: ${state.failure}`] : []),
    ...denialLines(session),
    ...findingLines(session.findings).map((line) => `Sandbox: ${line}`),
    `Original token count: ${originalTokens}`,
    'Output:',
    text,
  ].join('\n');
}

const mostDenialLines = 3;

/** The reason of a failure with what to do about it, then what else was stopped. */
function denialLines(session: Session): readonly string[] {
  const reason = session.denial();
  const others = session.denials().filter((denial) => denial !== reason);
  const shown = others.slice(0, reason === undefined ? mostDenialLines : mostDenialLines - 1);
  const rest = others.length - shown.length;
  const atLeast = session.denials().length < mostDenials ? '' : 'at least ';
  return [
    ...(reason === undefined ? [] : [`Sandbox: ${reason.message} ${session.adviceOn(reason)}`]),
    ...shown.map(
      ({ message }) => `Sandbox: ${message}${reason === undefined ? ' The command went on.' : ''}`,
    ),
    ...(rest > 0
      ? [`Sandbox: ${atLeast}${rest} more ${rest === 1 ? 'thing was' : 'things were'} stopped.`]
      : []),
  ];
}
