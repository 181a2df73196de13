import type { AnswerRequest } from '../sessions/answer.ts';
import { composeAnswer } from '../sessions/answer.ts';
import type { Session } from '../sessions/session.ts';
import type { SessionManager } from '../sessions/sessionManager.ts';
import type { ToolResult } from './tool.ts';

/** The session's answer as a tool result; a session that has ended is forgotten with its last output. */
export async function answerResult(
  sessions: SessionManager,
  session: Session,
  request: AnswerRequest,
  wallTimeMs: number,
): Promise<ToolResult> {
  // Asked before the output is taken: what arrives meanwhile belongs to the next answer.
  const isClosed = session.isClosed;
  const text = await composeAnswer(session, request, wallTimeMs);
  if (isClosed) {
    sessions.forget(session.id);
  }
  return { text, isError: false, sessionId: session.id };
}

/** What the reference answers when the caller gave up. */
export function abortedResult(session: Session, wallTimeMs: number): ToolResult {
  const text = `Wall time: ${(wallTimeMs / 1_000).toFixed(4)} seconds\naborted by user`;
  return { text, isError: true, sessionId: session.id };
}
