import assert from 'node:assert/strict';
import type { Answer, ApprovalRequest } from '../../../src/runtime/approvals/approval.ts';
import { Approvals } from '../../../src/runtime/approvals/approvals.ts';
import { GrantStore } from '../../../src/runtime/approvals/grantStore.ts';

const request: ApprovalRequest = {
  owner: 'Chat',
  root: { name: 'app', path: '/w' },
  commandLine: 'make',
  cwd: '/w',
  title: 'Run?',
  reason: 'Because.',
  offers: [],
  scope: 'make in /w',
};
const forTheSession: Answer = {
  kind: 'allow',
  widenings: [{ kind: 'host', host: 'example.org' }],
  lasts: 'session',
};

describe('an answer whose grant cannot be kept', () => {
  it('is no answer: the question waits on, and a second try counts', async () => {
    class FailingOnce extends GrantStore {
      #hasFailed = false;
      override async add(grant: Parameters<GrantStore['add']>[0]) {
        if (!this.#hasFailed) {
          this.#hasFailed = true;
          throw new Error('the disk is full');
        }
        return super.add(grant);
      }
    }
    const grants = new FailingOnce();
    const approvals = new Approvals({ grants, expiresAfterMs: () => 60_000 });
    approvals.onDidAsk(() => {});
    const answer = approvals.ask(request, new AbortController().signal);
    const [asked] = approvals.list();
    assert.ok(asked !== undefined);
    await assert.rejects(approvals.answer(asked.id, forTheSession), /the disk is full/);
    assert.deepEqual(
      approvals.list().map(({ id }) => id),
      [asked.id],
    );
    assert.deepEqual(grants.list(), []);
    assert.equal(await approvals.answer(asked.id, forTheSession), true);
    assert.deepEqual(await answer, forTheSession);
    assert.equal(grants.list({ path: '/w' }).length, 1);
    approvals.dispose();
    grants.dispose();
  });
});
