import assert from 'node:assert/strict';
import { join } from 'node:path';
import { silentLog } from '../../../../src/base/log.ts';
import type { Allowed, ApprovalRequest } from '../../../../src/runtime/approvals/approval.ts';
import { ApprovalFile } from '../../../../src/runtime/approvals/approvalFile.ts';
import { Approvals } from '../../../../src/runtime/approvals/approvals.ts';
import { GrantStore } from '../../../../src/runtime/approvals/grantStore.ts';
import { offersAfter, offersBefore } from '../../../../src/runtime/approvals/offers.ts';
import type { TemporaryFolder } from '../../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../../harness/temporaryFolder.ts';
import { waitFor } from '../../../harness/waitFor.ts';

const root = { name: 'app', path: '/w/app' };
const request = (scope = 'npm test'): ApprovalRequest => ({
  owner: 'Test',
  root,
  commandLine: scope,
  cwd: root.path,
  title: 'Run this command?',
  reason: 'Because.',
  offers: offersBefore({ widenings: [], prefix: ['npm', 'test'], root }),
  scope,
});
const once: Allowed = { kind: 'allow', widenings: [], lasts: 'once' };
const signal = new AbortController().signal;

describe('Approvals', () => {
  let folder: TemporaryFolder;
  let grants: GrantStore;
  const made: Approvals[] = [];
  beforeEach(async () => {
    folder = await createTemporaryFolder('approvals');
    grants = new GrantStore();
  });
  afterEach(async () => {
    made.splice(0).forEach((approvals) => approvals.dispose());
    grants.dispose();
    await folder.dispose();
  });

  const path = (): string => join(folder.path, 'approvals.json');
  const create = (expiresAfterMs = 60_000, file?: ApprovalFile, isHeard = true): Approvals => {
    const approvals = new Approvals({
      grants,
      expiresAfterMs: () => expiresAfterMs,
      ...(file !== undefined && { file }),
    });
    made.push(approvals);
    if (isHeard) {
      approvals.onDidAsk(() => {});
    }
    return approvals;
  };

  it('give the answer to whoever asked, once', async () => {
    const approvals = create();
    const answer = approvals.ask(request(), signal);
    const [waiting] = approvals.list();
    assert.ok(waiting);
    assert.deepEqual(
      await Promise.all([
        approvals.answer(waiting.id, once),
        approvals.answer(waiting.id, { kind: 'deny', by: 'person' }),
      ]),
      [true, false],
    );
    assert.deepEqual(await answer, once);
    assert.deepEqual(approvals.list(), []);
  });

  it('answer no when nobody can be asked, when time is over, and when the caller gives up', async () => {
    assert.deepEqual(await create(1, undefined, false).ask(request(), signal), {
      kind: 'deny',
      by: 'nobody',
    });
    assert.deepEqual(await create(1).ask(request(), signal), { kind: 'deny', by: 'expired' });
    const abort = new AbortController();
    const answer = create().ask(request(), abort.signal);
    abort.abort();
    assert.deepEqual(await answer, { kind: 'deny', by: 'gone' });
    assert.deepEqual(await create().ask(request(), abort.signal), { kind: 'deny', by: 'gone' });
  });

  it('turn an answer that lasts into grants, but never one to leave the sandbox', async () => {
    const approvals = create();
    const answers: readonly Allowed[] = [
      { kind: 'allow', widenings: [{ kind: 'host', host: 'example.org:443' }], lasts: 'session' },
      { kind: 'allow', widenings: [], lasts: 'session', prefix: ['npm', 'test'] },
      { kind: 'allow', widenings: [{ kind: 'unsandboxed' }], lasts: 'session' },
      { kind: 'allow', widenings: [{ kind: 'network' }], lasts: 'once' },
    ];
    for (const answer of answers) {
      void approvals.ask(request(), signal);
      await approvals.answer(approvals.list()[0]?.id ?? '', answer);
    }
    assert.deepEqual(
      grants.list().map(({ what }) => what),
      [
        { kind: 'host', host: 'example.org:443' },
        { kind: 'prefix', words: ['npm', 'test'] },
      ],
    );
  });

  it('remember what is not to be asked again, by its exact scope', async () => {
    const approvals = create();
    void approvals.ask(request('a'), signal);
    await approvals.answer(approvals.list()[0]?.id ?? '', { ...once, isRemembered: true });
    assert.equal(approvals.remembers('a'), true);
    assert.equal(approvals.remembers('a '), false);
  });

  it('are there after a reload, and keep an answer for the next call that asks the same', async () => {
    const file = new ApprovalFile(path(), silentLog);
    const before = create(60_000, file);
    void before.ask(request(), signal);
    await file.flush();
    before.dispose();

    const later = new ApprovalFile(path(), silentLog);
    const after = create(60_000, later);
    const [interrupted] = after.list();
    assert.ok(interrupted);
    assert.equal(interrupted.state, 'interrupted');
    assert.equal(await after.answer(interrupted.id, once), true);
    await later.flush();

    const third = create(60_000, new ApprovalFile(path(), silentLog));
    assert.deepEqual(await third.ask(request(), signal), once);
    // Once: the next one is a question again.
    void third.ask(request(), signal);
    assert.equal(third.list().length, 1);
  });

  it('keep no yes for a question that does not offer it any more', async () => {
    const offers = offersAfter([], { root, mayLeave: true });
    const file = new ApprovalFile(path(), silentLog);
    const before = create(60_000, file);
    void before.ask({ ...request(), offers }, signal);
    before.dispose();
    await file.flush();
    const after = create(60_000, new ApprovalFile(path(), silentLog));
    const [question] = after.list();
    assert.ok(question);
    const widest = offers[0]?.answer;
    assert.ok(widest?.kind === 'allow' && widest.widenings[0]?.kind === 'unsandboxed');
    await after.answer(question.id, widest);
    void after.ask(request(), signal);
    assert.equal(after.list().length, 1);
    assert.deepEqual(await after.ask({ ...request(), offers }, signal), widest);
  });

  it('count a caller that a reload takes along as interrupted, and one that gives up as gone', async () => {
    const file = new ApprovalFile(path(), silentLog);
    const before = create(60_000, file);
    const abort = new AbortController();
    void before.ask(request(), abort.signal);
    await file.flush();
    abort.abort();
    before.dispose();
    assert.equal(create(60_000, new ApprovalFile(path(), silentLog)).list().length, 1);

    const gone = new AbortController();
    const stays = create(60_000, new ApprovalFile(path(), silentLog));
    void stays.ask(request('other'), gone.signal);
    gone.abort();
    await waitFor('the question to be gone from the disk', () =>
      new ApprovalFile(path(), silentLog).read().approvals.every(({ scope }) => scope !== 'other'),
    );
  });

  it('replace the interrupted question when the same is asked again', async () => {
    const file = new ApprovalFile(path(), silentLog);
    const before = create(60_000, file);
    void before.ask(request(), signal);
    await file.flush();
    before.dispose();
    const after = create(60_000, new ApprovalFile(path(), silentLog));
    void after.ask(request(), signal);
    assert.deepEqual(
      after.list().map(({ state }) => state),
      ['waiting'],
    );
  });

  it('start empty from a file that is none', async () => {
    const file = new ApprovalFile(path(), silentLog);
    file.write({ approvals: [], answers: [] });
    await file.flush();
    const { writeFile } = await import('node:fs/promises');
    await writeFile(path(), '{"approvals": [{"offers": "all"}], "answers": []}');
    assert.deepEqual(create(60_000, new ApprovalFile(path(), silentLog)).list(), []);
  });

  it('do not keep the process alive', async () => {
    // Timers that keep it alive, and no others.
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const approvals = create(60_000);
    const abort = new AbortController();
    void approvals.ask(request('one'), signal);
    const answer = approvals.ask(request('other'), abort.signal);
    abort.abort();
    assert.equal(timers(), before);
    assert.deepEqual(await answer, { kind: 'deny', by: 'gone' });
  });
});
