import type { SessionState, SessionView } from './sessionView.ts';

/** The state of a finished session. */
export type ExitedState = Extract<SessionState, { readonly kind: 'exited' }>;

/** Title of a session's terminal: verdict first, so that it survives a narrow tab. */
export function terminalName(session: SessionView): string {
  const { state } = session;
  const command = runningName(session);
  if (state.kind === 'running') {
    return command;
  }
  if (state.failure !== undefined) {
    return `✗ lost ${command}`;
  }
  return state.exitCode === 0 ? `✓ ${command}` : `✗ ${state.exitCode} ${command}`;
}

/** The title while it runs. */
export function runningName({ commandLine, environment }: SessionView): string {
  const place = environment === 'local' ? '' : `${environment}: `;
  return `${place}${shortCommand(commandLine, 40)}`;
}

/** One line of at most that many characters. */
export function shortCommand(commandLine: string, maxLength: number): string {
  const line = commandLine.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  const characters = [...line];
  return characters.length <= maxLength ? line : `${characters.slice(0, maxLength - 1).join('')}…`;
}

/** How it ended, as one sentence. */
export function exitSentence(session: SessionView, state: ExitedState): string {
  if (state.failure !== undefined) {
    return `Session ${session.id} was lost: ${state.failure}.`;
  }
  const how =
    state.signal === undefined ? `exited with code ${state.exitCode}` : `was ended by ${state.signal}`;
  return `Session ${session.id} ${how} after ${formatDuration(state.durationMs)}.`;
}

export function formatDuration(durationMs: number): string {
  if (durationMs < 60_000) {
    return `${(durationMs / 1000).toFixed(1)} s`;
  }
  const seconds = Math.round(durationMs / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

export function formatBytes(bytes: number): string {
  if (bytes < 1000) {
    return `${bytes} bytes`;
  }
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** The state in two or three words, for lists. */
export function stateWords(state: SessionState): string {
  if (state.kind === 'running') {
    return 'running';
  }
  if (state.failure !== undefined) {
    return 'lost';
  }
  return state.signal === undefined ? `exited with ${state.exitCode}` : `ended by ${state.signal}`;
}
