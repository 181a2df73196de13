import assert from 'node:assert/strict';
import type { Approval } from '../../../src/runtime/approvals/approval.ts';
import { describeWidening } from '../../../src/runtime/approvals/wideningWords.ts';
import {
  approvalFacts,
  approvalPage,
  approvalWords,
  nextChangeMs,
  timeLeft,
  waitingWords,
} from '../../../src/ui/approvals/approvalWords.ts';

const approval: Approval = {
  id: 'a1',
  owner: 'Chat',
  root: { name: 'app', path: '/w/app' },
  commandLine: 'npm publish',
  cwd: '/w/app',
  title: 'Run this command?',
  reason: 'No rule allows it.',
  offers: [
    {
      id: 'once',
      label: 'Run Once',
      detail: 'Asked again.',
      answer: { kind: 'allow', widenings: [], lasts: 'once' },
    },
    { id: 'deny', label: "Don't Run", detail: 'It is told.', answer: { kind: 'deny', by: 'person' } },
  ],
  scope: 's',
  askedAt: 0,
  expiresAt: 600_000,
  state: 'waiting',
};

describe('what a folder or path is called', () => {
  const trick = '/w/app/a\u202eb\n\nIt is harmless.';

  it('turns no direction and begins no paragraph in the words about a question', () => {
    const facts = approvalFacts({ ...approval, cwd: trick, reason: `More: ${trick}` });
    const page = approvalPage({
      ...approval,
      cwd: trick,
      offers: approval.offers.map((offer) => ({ ...offer, label: trick, detail: trick })),
    });
    for (const text of [...facts, ...page.split('\n\n')]) {
      assert.doesNotMatch(text, /\u202e|^It is harmless/);
    }
  });

  it('begins no paragraph in what a widening opens', () => {
    assert.doesNotMatch(describeWidening({ kind: 'path', path: trick, access: 'write' }), /\n/);
    assert.doesNotMatch(describeWidening({ kind: 'socket', path: trick }), /\n/);
    assert.match(describeWidening({ kind: 'prefix', words: ['git', 'push” x'] }), /“git 'push” x'”/);
  });
});

describe('the time that is left', () => {
  const cases: readonly (readonly [leftMs: number, words: string, nextMs: number | undefined])[] = [
    [600_000, '10 min left', 60_000],
    [599_000, '10 min left', 59_000],
    [540_000, '9 min left', 60_000],
    [60_001, '2 min left', 1],
    [60_000, '60 s left', 10_000],
    [50_000, '50 s left', 10_000],
    [49_999, '50 s left', 9_999],
    [1, '10 s left', 1],
    [0, '0 s left', undefined],
    [-5, '0 s left', undefined],
  ];
  for (const [leftMs, words, nextMs] of cases) {
    it(`${leftMs} ms: "${words}", for ${nextMs} ms more`, () => {
      assert.equal(timeLeft(1_000_000 + leftMs, 1_000_000), words);
      assert.equal(nextChangeMs(1_000_000 + leftMs, 1_000_000), nextMs);
    });
  }

  it('says something else at each change, and nothing else before', () => {
    for (let now = 0; ;) {
      const step = nextChangeMs(600_000, now);
      if (step === undefined) {
        break;
      }
      assert.equal(timeLeft(600_000, now + step - 1), timeLeft(600_000, now));
      assert.notEqual(timeLeft(600_000, now + step), timeLeft(600_000, now));
      now += step;
    }
  });
});

describe('the words of a question', () => {
  it('name the time, the question, the root and who asks', () => {
    assert.equal(waitingWords(approval, 0), '10 min left');
    assert.equal(approvalWords(approval, 'app'), 'npm publish · Run this command? · app · Chat');
    assert.equal(approvalWords(approval, ''), 'npm publish · Run this command? · Chat');
  });

  it('tell of a reload instead of a time', () => {
    const interrupted: Approval = { ...approval, state: 'interrupted' };
    assert.equal(waitingWords(interrupted, 0), 'from before the reload');
    assert.match(approvalFacts(interrupted).join('\n'), /counts for the next one that asks exactly the same/);
  });

  it('give the reason and the agent’s own words', () => {
    assert.deepEqual(approvalFacts({ ...approval, cwd: '/w/app/lib', justification: 'May I?' }), [
      'Chat asks, in app, in /w/app/lib.',
      'No rule allows it.',
      'In the agent’s own words: “May I?”',
    ]);
  });

  it('show the whole question on its page, the command as text', () => {
    const page = approvalPage({ ...approval, commandLine: 'echo ```\n# not a heading\u202e' });
    assert.match(page, /^````\necho ```\n# not a heading\\u\{202e\}\n````$/m);
    for (const part of ['# Run this command?', 'No rule allows it.', '**Run Once**', "**Don't Run**"]) {
      assert.ok(page.includes(part), part);
    }
  });
});
