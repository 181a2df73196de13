import assert from 'node:assert/strict';
import { fail, ok } from '../../../src/base/result.ts';
import type { DenialRecord } from '../../../src/runtime/denials/denialLog.ts';
import type { Denial } from '../../../src/sandbox/denials/denial.ts';
import type { SandboxPolicy } from '../../../src/sandbox/policy/policy.ts';
import type { Widening } from '../../../src/sandbox/policy/widening.ts';
import { cureOf } from '../../../src/ui/denials/cureOf.ts';
import { denialLabel, denialWords } from '../../../src/ui/denials/denialWords.ts';
import { allFrom, policyOf } from '../../harness/policyOf.ts';

const now = new Date(2031, 4, 6, 14, 40);
const clock = now.toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit' });
const fix: Widening = { kind: 'path', path: '/srv', access: 'write' };

function record(denial: Partial<Denial>, fixes: readonly Widening[] = [fix]): DenialRecord {
  return {
    id: 'd1',
    at: now.getTime(),
    root: { name: 'app', path: '/w' },
    sessionId: 3,
    commandLine: 'make\nall',
    cwd: '/w',
    denial: { certainty: 'known', clause: 'files', message: 'Stopped.', hint: 'For models.', ...denial },
    fixes,
  };
}

describe('the words of a denial', () => {
  const cases: readonly (readonly [denial: Partial<Denial>, label: string, words: string])[] = [
    [{ path: '/srv/a' }, '/srv/a', `files · session 3 · app · ${clock} · make ↵ all`],
    [
      { path: '/w/.git/hooks/x', clause: 'git' },
      '.git/hooks/x',
      `git · session 3 · app · ${clock} · make ↵ all`,
    ],
    [{ path: '/srv/a/b/c' }, '…/b/c', `files · session 3 · app · ${clock} · make ↵ all`],
    [{ path: '/w', clause: 'mode' }, '/w', `mode · session 3 · app · ${clock} · make ↵ all`],
    [
      { host: 'example.org:443', clause: 'hosts', certainty: 'likely' },
      'example.org:443',
      `likely hosts · session 3 · app · ${clock} · make ↵ all`,
    ],
    [{ socket: '/run/x.sock' }, '/run/x.sock', `files · session 3 · app · ${clock} · make ↵ all`],
    [{ path: '/srv/\u202ea' }, '/srv/\\u{202e}a', `files · session 3 · app · ${clock} · make ↵ all`],
    [{}, 'make ↵ all', `files · session 3 · app · ${clock}`],
  ];
  for (const [denial, label, words] of cases) {
    it(`of ${JSON.stringify(denial)}`, () => {
      assert.equal(denialLabel(record(denial)), label);
      assert.equal(denialWords(record(denial), 'app', now), words);
    });
  }

  it('leave the root out where there is one', () => {
    assert.equal(
      denialWords(record({ path: '/srv/a' }), '', now),
      `files · session 3 · ${clock} · make ↵ all`,
    );
  });
});

describe('what helps against a denial', () => {
  const narrow = policyOf('/w');
  const wide = policyOf('/w', { writableRoots: ['/w', '/srv'] });
  const policies = (before: SandboxPolicy, after: SandboxPolicy) => ({
    policyFor: (_root: unknown, widenings: readonly Widening[] = []) =>
      ok(widenings.length === 0 ? before : after),
  });

  it('is a grant that would open it', () => {
    assert.deepEqual(cureOf(record({}), policies(narrow, wide)), { kind: 'grant', fixes: [fix] });
  });

  it('is no grant that something stricter takes back, and who does is named', () => {
    const narrowed = policyOf('/w', { sources: { ...allFrom('default'), files: 'managed' } });
    assert.deepEqual(cureOf(record({}), policies(narrowed, narrowed)), {
      kind: 'advice',
      text: 'No grant helps here: narrowed by your administrator.',
    });
  });

  it('is to run it again when it is allowed meanwhile', () => {
    assert.deepEqual(cureOf(record({}), policies(wide, wide)), { kind: 'allowed' });
  });

  it('is advice for a person when no grant opens it', () => {
    const cure = cureOf(record({ clause: 'limits' }, []), policies(narrow, narrow));
    assert.equal(cure.kind, 'advice');
    assert.match(cure.kind === 'advice' ? cure.text : '', /raise the limit/);
  });

  it('is to correct the setting of a root that has no policy', () => {
    const broken = { policyFor: () => fail({ field: 'f', message: 'f is 3.', hint: 'Correct it.' }) };
    assert.deepEqual(cureOf(record({}), broken), { kind: 'advice', text: 'f is 3. Correct it.' });
  });
});
