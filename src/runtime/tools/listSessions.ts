import * as z from 'zod';
import type { Session } from '../sessions/session.ts';
import type { SessionManager } from '../sessions/sessionManager.ts';
import type { Tool } from './tool.ts';

export const listSessionsSchema = z.object({});

/** Lists the sessions that write_stdin and kill_session take. */
export function createListSessionsTool(sessions: SessionManager): Tool<Record<string, never>> {
  return {
    name: 'list_sessions',
    inputSchema: listSessionsSchema,
    invocationMessage: () => 'Listing sessions',
    confirmation: async () => undefined,
    async invoke() {
      await sessions.restored;
      const known = sessions.known();
      const text = known.length === 0 ? 'No sessions.' : known.map(describe).join('\n');
      return { text, isError: false };
    },
  };
}

function describe(session: Session): string {
  const { state } = session;
  const seconds = (Date.now() - session.startedAt.getTime()) / 1_000;
  const status =
    state.kind === 'running' ? `running for ${seconds.toFixed(0)} s` : `exited with code ${state.exitCode}`;
  const terminal = session.isTty ? 'terminal' : 'pipes';
  return `${session.id}: ${status}, ${terminal}, ${session.policy.mode}, in ${session.cwd}: ${session.commandLine}`;
}
