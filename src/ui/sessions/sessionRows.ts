import { localName } from '../../runtime/environments/environment.ts';
import type { Session } from '../../runtime/sessions/session.ts';
import { formatDuration, stateWords } from '../../terminal/sessionWords.ts';
import { policySummary } from '../policyWords.ts';

// What a person reads and hears about sessions.

type Shown = Pick<
  Session,
  | 'id'
  | 'state'
  | 'startedAt'
  | 'owner'
  | 'policy'
  | 'isUnsandboxed'
  | 'root'
  | 'cwd'
  | 'environment'
  | 'denials'
>;

/** Running before finished, and younger before older. */
export function newestFirst(
  a: Pick<Session, 'state' | 'startedAt'>,
  b: Pick<Session, 'state' | 'startedAt'>,
): number {
  const running = ({ state }: Pick<Session, 'state'>): number => (state.kind === 'running' ? 1 : 0);
  return running(b) - running(a) || b.startedAt.getTime() - a.startedAt.getTime();
}

/** What a row says beside the command. `rootName` is empty where there is only one root. */
export function sessionWords(session: Shown, rootName: string, now: Date): string {
  const { owner, id } = session;
  const denials = session.denials().length;
  return [
    stateSince(session, now),
    denials === 0 ? '' : `${denials} ${denials === 1 ? 'denial' : 'denials'}`,
    session.environment === localName ? '' : `on ${session.environment}`,
    sandboxWords(session),
    rootName,
    owner === 'person' ? 'by you' : 'by an agent',
    String(id),
  ]
    .filter((part) => part !== '')
    .join(' · ');
}

/** How it stands, and for how long it has been running or ran. */
export function stateSince({ state, startedAt }: Pick<Session, 'state' | 'startedAt'>, now: Date): string {
  return state.kind === 'running'
    ? `running ${roughly(now.getTime() - startedAt.getTime())}`
    : `${stateWords(state)} after ${formatDuration(state.durationMs)}`;
}

/** The parts of a tooltip below the command. */
export function sessionFacts(session: Shown, now: Date): readonly string[] {
  const { id, owner, root, cwd, startedAt, environment } = session;
  const machine = environment === localName ? '' : ` on ${environment}`;
  return [
    `Session ${id}, started by ${owner === 'person' ? 'you' : 'an agent'} at ${startedAt.toLocaleTimeString()}: ${stateSince(session, now)}.`,
    `In ${cwd === root.path ? root.name : `${root.name}, in ${cwd}${machine}`}.`,
    session.isUnsandboxed
      ? `Without a sandbox: it may do whatever you may do${machine === '' ? ' on this machine' : machine}.`
      : `Sandbox: ${sandboxWords(session)}.`,
    ...session.denials().map(({ message }) => message),
  ];
}

function sandboxWords({ isUnsandboxed, policy }: Shown): string {
  return isUnsandboxed ? 'NO SANDBOX' : policySummary(policy);
}

/** In steps of {@link stepMs}, then of minutes: nobody wants rows that change all the time. */
function roughly(durationMs: number): string {
  const minutes = Math.floor(durationMs / 60_000);
  if (minutes < 1) {
    return durationMs < stepMs ? 'a moment' : `${Math.floor(durationMs / stepMs) * (stepMs / 1_000)} s`;
  }
  const hours = Math.floor(minutes / 60);
  return hours < 1 ? `${minutes} min` : `${hours} h ${minutes % 60} min`;
}

/** How often the words about a running session change, at most. */
export const stepMs = 10_000;
