import assert from 'node:assert/strict';
import type { Denial } from '../../../src/sandbox/denials/denial.ts';
import type { SessionState } from '../../../src/terminal/sessionView.ts';
import { newestFirst, sessionFacts, sessionWords, stateSince } from '../../../src/ui/sessions/sessionRows.ts';
import { policyOf } from '../../harness/policyOf.ts';

const startedAt = new Date();
const after = (seconds: number): Date => new Date(startedAt.getTime() + seconds * 1_000);
const exited = (more: object = {}): SessionState => ({
  kind: 'exited',
  exitCode: 0,
  sandboxDenied: false,
  durationMs: 2_100,
  ...more,
});
const session = {
  id: 4_711,
  state: { kind: 'running' } as SessionState,
  startedAt,
  owner: 'person' as 'person' | 'agent',
  policy: policyOf('/w'),
  isUnsandboxed: false,
  root: { name: 'app', path: '/w' },
  cwd: '/w/src',
  environment: 'local',
  denials: (): readonly Denial[] => [],
};

describe('the words of a session’s row', () => {
  it('say for how long it has been running, in steps', () => {
    const words = [1, 19, 59, 60, 150, 3_660].map((seconds) => stateSince(session, after(seconds)));
    assert.deepEqual(words, [
      'running a moment',
      'running 10 s',
      'running 50 s',
      'running 1 min',
      'running 2 min',
      'running 1 h 1 min',
    ]);
  });

  it('say how it ended', () => {
    const ended = (state: SessionState): string => stateSince({ ...session, state }, after(100));
    assert.equal(ended(exited()), 'exited with 0 after 2.1 s');
    assert.equal(ended(exited({ exitCode: 137, signal: 'SIGKILL' })), 'ended by SIGKILL after 2.1 s');
  });

  it('say sandbox, root, owner and number', () => {
    assert.equal(
      sessionWords(session, '', after(1)),
      'running a moment · Workspace write · network off · by you · 4711',
    );
    assert.equal(
      sessionWords({ ...session, owner: 'agent', isUnsandboxed: true }, 'app', after(1)),
      'running a moment · NO SANDBOX · app · by an agent · 4711',
    );
  });

  it('say the machine, when it is another one', () => {
    const elsewhere = { ...session, environment: 'build', isUnsandboxed: true };
    assert.match(sessionWords(elsewhere, 'app', after(1)), / · on build · NO SANDBOX · app · /);
    assert.deepEqual(sessionFacts(elsewhere, after(1)).slice(1), [
      'In app, in /w/src on build.',
      'Without a sandbox: it may do whatever you may do on build.',
    ]);
  });

  it('count what the sandbox stopped, and tell it below', () => {
    const denial = { message: 'It may not write there.', hint: '', certainty: 'likely' } as unknown as Denial;
    const denied = { ...session, state: exited({ exitCode: 1 }), denials: () => [denial] };
    assert.match(sessionWords(denied, '', after(9)), /^exited with 1 after 2\.1 s · 1 denial · /);
    assert.deepEqual(sessionFacts(denied, after(9)).slice(1), [
      'In app, in /w/src.',
      'Sandbox: Workspace write · network off.',
      'It may not write there.',
    ]);
  });

  it('put what runs first, and the younger before the older', () => {
    const of = (id: number, seconds: number, state: SessionState) => ({
      id,
      startedAt: after(seconds),
      state,
    });
    const sorted = [
      of(1, 0, { kind: 'running' }),
      of(2, 9, exited()),
      of(3, 5, { kind: 'running' }),
      of(4, 20, exited()),
    ].sort(newestFirst);
    assert.deepEqual(
      sorted.map(({ id }) => id),
      [3, 1, 4, 2],
    );
  });
});
