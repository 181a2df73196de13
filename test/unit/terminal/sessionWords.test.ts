import assert from 'node:assert/strict';
import type { SessionState, SessionView } from '../../../src/terminal/sessionView.ts';
import { exitSentence, stateWords, terminalName } from '../../../src/terminal/sessionWords.ts';

const session = (state: SessionState, environment = 'local'): SessionView =>
  ({ id: 1234, commandLine: 'make  all', environment, state }) as unknown as SessionView;
const ended = { kind: 'exited', exitCode: 2, sandboxDenied: false, durationMs: 1_500 } as const;
const lost = { ...ended, exitCode: 255, failure: 'its server has ended' } as const;

describe('the words about a session', () => {
  it('name its terminal by its command, and by its environment when that is another machine', () => {
    assert.equal(terminalName(session({ kind: 'running' })), 'make all');
    assert.equal(terminalName(session({ kind: 'running' }, 'build')), 'build: make all');
    assert.equal(terminalName(session(ended, 'build')), '✗ 2 build: make all');
    assert.equal(terminalName(session({ ...ended, exitCode: 0 })), '✓ make all');
    assert.equal(terminalName(session(lost)), '✗ lost make all');
  });

  it('tell how it ended, and that nobody knows when it was lost', () => {
    assert.equal(exitSentence(session(ended), ended), 'Session 1234 exited with code 2 after 1.5 s.');
    assert.equal(exitSentence(session(lost), lost), 'Session 1234 was lost: its server has ended.');
    assert.equal(stateWords(ended), 'exited with 2');
    assert.equal(stateWords(lost), 'lost');
  });
});
