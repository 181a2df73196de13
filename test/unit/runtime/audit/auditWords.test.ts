import assert from 'node:assert/strict';
import type { AuditEntry, AuditEvent, AuditNote } from '../../../../src/runtime/audit/auditEntry.ts';
import { auditLines } from '../../../../src/runtime/audit/auditWords.ts';
import { decisionOn, endOf } from '../../../harness/auditEvents.ts';

const entry = (event: AuditEvent | AuditNote): AuditEntry => ({
  version: 1,
  at: new Date(2026, 0, 2, 3, 4, 5).toISOString(),
  ...event,
});

describe('auditLines()', () => {
  const cases: readonly (readonly [event: AuditEvent | AuditNote, lines: readonly string[]])[] = [
    [
      decisionOn('npm test', { judgement: { class: 'ordinary', place: 'a.rules:3' }, by: 'rule' }),
      [
        '2026-01-02 03:04:05  allowed   npm test',
        '                     by a rule (a.rules:3) · for an agent in /w · inside the sandbox (workspace-write) · class ordinary · policy abababab',
      ],
    ],
    [
      endOf('x', {
        exitCode: 137,
        signal: 'SIGKILL',
        denials: [{ clause: 'files', path: '/p' }, { host: 'h' }],
        findings: 2,
      }),
      [
        '2026-01-02 03:04:05  denied    x',
        '                     SIGKILL · stopped /p (files) · stopped h · 2 disarmed · 0.0 s · in /w',
      ],
    ],
    [
      {
        kind: 'revoke',
        id: 'g',
        root: '/w',
        what: { kind: 'path', path: '/p', access: 'write' },
      },
      ['2026-01-02 03:04:05  revoke    writing to /p', '                     in /w'],
    ],
    [
      endOf('x', { root: '/w', environment: 'build' }),
      ['2026-01-02 03:04:05  ended     x', '                     exit code 0 · 0.0 s · on build, for /w'],
    ],
    [
      {
        kind: 'takeover',
        ...{ id: 'c', command: 'make', cwd: '/w/a', root: '/w', session: 1234, policy: '0123456789abcdef' },
      },
      [
        '2026-01-02 03:04:05  takeover  make',
        '                     session 1234 was taken over by the window that was loaded next · in /w/a · policy 01234567',
      ],
    ],
    [
      {
        kind: 'end',
        ...{
          id: 'c',
          command: 'make',
          root: '/w',
          session: 1234,
          exitCode: 255,
          failure: 'its server has ended',
        },
        ...{ denials: [], findings: 0, durationMs: 1_000 },
      },
      [
        '2026-01-02 03:04:05  ended     make',
        '                     lost: its server has ended · exit code 255 · 1.0 s · in /w',
      ],
    ],
    [
      { kind: 'gap', lost: 3 },
      ['2026-01-02 03:04:05  gap       3 entries are missing: the disk did not take them in time'],
    ],
  ];
  for (const [event, lines] of cases) {
    it(`tells of ${JSON.stringify(event)}`, () => assert.deepEqual(auditLines(entry(event)), lines));
  }

  it('lets no command forge lines or turn the direction of writing', () => {
    const [head = '', ...others] = auditLines(
      entry(decisionOn('a\n2026 refused b\r\x1b[1m\u202e\u2028c\td')),
    );
    assert.equal(others.length, 1);
    assert.ok(head.endsWith('a ⏎ 2026 refused b\\u{d}\\u{1b}[1m\\u{202e}\\u{2028}c d'), head);
  });
});
