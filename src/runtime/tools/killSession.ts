import * as z from 'zod';
import type { SessionManager } from '../sessions/sessionManager.ts';
import { answerResult } from './answerResult.ts';
import type { Tool } from './tool.ts';
import { toolError } from './tool.ts';
import { maxAnswerTokens } from '../sessions/truncateOutput.ts';

export const killSessionSchema = z.object({
  session_id: z
    .number()
    .int('must be a whole number')
    .describe('The session to end, as exec_command gave it.'),
});

/** Ends a session with everything it started, and answers with its last output. */
export function createKillSessionTool(sessions: SessionManager): Tool<z.infer<typeof killSessionSchema>> {
  return {
    name: 'kill_session',
    inputSchema: killSessionSchema,
    invocationMessage: ({ session_id }) => `Ending session ${session_id}`,
    confirmation: async () => undefined,
    async invoke({ session_id }, { signal }) {
      const startedAt = performance.now();
      await sessions.restored;
      const session = sessions.use(session_id);
      if (session === undefined) {
        return toolError('kill_session', {
          message: `Unknown process id ${session_id}`,
          hint: 'It is not running any more, or never was: see list_sessions.',
        });
      }
      await session.terminate();
      const form = session.isTty ? 'screen' : 'stream';
      const request = { yieldMs: 0, maxTokens: maxAnswerTokens, form, signal } as const;
      return answerResult(sessions, session, request, performance.now() - startedAt);
    },
  };
}
