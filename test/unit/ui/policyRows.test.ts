import assert from 'node:assert/strict';
import { fail, ok } from '../../../src/base/result.ts';
import { defaultApproval } from '../../../src/runtime/approvals/approvalPolicy.ts';
import type { Grant } from '../../../src/runtime/approvals/grant.ts';
import type { PrefixRule } from '../../../src/sandbox/rules/rule.ts';
import { noRules } from '../../../src/sandbox/rules/rule.ts';
import type { PolicyRow } from '../../../src/ui/policyView/policyRow.ts';
import type { RootState } from '../../../src/ui/policyView/policyRows.ts';
import { policyRows } from '../../../src/ui/policyView/policyRows.ts';
import { allFrom, policyOf } from '../../harness/policyOf.ts';

const now = new Date();
const policy = policyOf('/w', {
  files: [
    { path: '/w', access: 'write', source: 'default', writtenAs: ':workspace' },
    { path: '/srv', access: 'write', source: 'user' },
    { path: '/', access: 'read', source: 'default', writtenAs: ':root' },
  ],
  hidden: [{ folder: '/w', glob: '**/.env*', source: 'workspace' }],
  hosts: { allow: [{ host: 'example.org', port: 443 }], deny: [{ host: 'ads.example.org' }] },
  limits: { processes: 512 },
  sources: { ...allFrom('default'), mode: 'user', git: 'workspace', tmp: 'managed', caches: 'profile' },
});
const state: RootState = {
  policy: ok(policy),
  approval: ok(defaultApproval),
  rules: noRules,
  grants: [],
  parentEnv: { PATH: '/usr/bin' },
  now,
};
const grant: Grant = {
  id: 'g',
  root: '/w',
  what: { kind: 'path', path: '/srv/data', access: 'write' },
  lasts: 'root',
  grantedAt: now.getTime(),
  because: 'make',
};

function rowOf(rows: readonly PolicyRow[], label: string): PolicyRow {
  const found = rows.find((row) => row.label === label);
  assert.ok(found, `${label} among ${rows.map((row) => row.label).join(', ')}`);
  return found;
}

function everyRow(rows: readonly PolicyRow[]): readonly PolicyRow[] {
  return rows.flatMap((row) => [row, ...everyRow(row.rows)]);
}

describe('the rows of a policy', () => {
  const rows = policyRows(state);

  it('say each clause with its value and whose word it is', () => {
    assert.deepEqual(
      rows.map(({ label, value, source = '' }) => [label, value, source]),
      [
        ['Mode', 'Workspace write', 'your settings'],
        ['Files', '3 rules, 1 hidden name', 'default'],
        ['Writable Roots', 'this folder and 1 more', 'default'],
        ['Git', 'Read only', 'narrowed by the workspace'],
        ['Caches', 'Off', 'your profile'],
        ['Temporary Folder', 'Private', 'narrowed by your administrator'],
        ['Network', 'off', 'default'],
        ['Hosts', '1 host, 1 denied, not in use', 'default'],
        ['Sockets', 'none', 'default'],
        ['Environment', rowOf(rows, 'Environment').value, 'default'],
        ['Limits', '1 of 4', 'default'],
        ['Approvals', 'On request', 'default'],
        ['Rules', 'none', ''],
        ['Grants', 'none', ''],
      ],
    );
  });

  it('lead to where the person changes it, or to who decides instead', () => {
    assert.deepEqual(
      rows.map(({ label, change }) => [label, change?.kind, ...Object.values(change ?? {}).slice(1)]),
      [
        ['Mode', 'picker'],
        ['Files', 'setting', 'cordon.sandbox.files'],
        ['Writable Roots', 'setting', 'cordon.sandbox.writableRoots'],
        ['Git', 'workspace', 'cordon.sandbox.git'],
        ['Caches', 'setting', 'cordon.sandbox.profiles'],
        ['Temporary Folder', 'managed'],
        ['Network', 'picker'],
        ['Hosts', 'setting', 'cordon.sandbox.hosts'],
        ['Sockets', 'setting', 'cordon.sandbox.sockets'],
        ['Environment', 'setting', 'cordon.sandbox.environment'],
        ['Limits', 'setting', 'cordon.sandbox.limits'],
        ['Approvals', 'setting', 'cordon.approvals.policy'],
        ['Rules', 'setting', 'cordon.rules'],
        ['Grants', undefined],
      ],
    );
    const untrusted = policyRows({
      ...state,
      policy: ok({ ...policy, sources: { ...policy.sources, mode: 'untrusted' } }),
    });
    assert.deepEqual(rowOf(untrusted, 'Mode').change, { kind: 'trust' });
  });

  it('have an id each', () => {
    const ids = everyRow(rows).map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
  });

  it('list the rules for files by depth, with purpose and source, then what is hidden and protected', () => {
    assert.deepEqual(
      rowOf(rows, 'Files').rows.map(({ label, value, source = '' }) => [label, value, source]),
      [
        ['/', 'read · the whole disk (:root)', 'default'],
        ['/srv', 'write', 'your settings'],
        ['/w', 'write · the folder itself (:workspace)', 'default'],
        ['**/.env*', 'hidden below /w', 'narrowed by the workspace'],
        ['Protected names', rowOf(rowOf(rows, 'Files').rows, 'Protected names').value, ''],
      ],
    );
  });

  it('list hosts, limits and variables, without the values of these', () => {
    assert.deepEqual(
      rowOf(rows, 'Hosts').rows.map(({ label, value }) => `${label} ${value}`),
      ['example.org:443 allowed', 'ads.example.org denied'],
    );
    assert.equal(rowOf(rowOf(rows, 'Limits').rows, 'Processes and threads').value, '512');
    assert.equal(rowOf(rowOf(rows, 'Environment').rows, 'PATH').value, '');
  });

  it('are without clauses that do not count when nothing is confined', () => {
    const open = policyRows({ ...state, policy: ok({ ...policy, mode: 'danger-full-access' }) });
    assert.deepEqual(
      open.map(({ label }) => label),
      ['Mode', 'Approvals', 'Rules', 'Grants'],
    );
    assert.equal(rowOf(open, 'Mode').tone, 'warning');
  });

  it('say what is wrong in place of the clauses, with the way there', () => {
    const error = { field: 'cordon.sandbox.git', message: 'It is 3.', hint: 'Correct it.' };
    const [problem, hint] = policyRows({ ...state, policy: fail(error) });
    assert.deepEqual([problem?.label, problem?.value, problem?.tone], [error.field, error.message, 'error']);
    assert.equal(hint?.label, error.hint);
    assert.deepEqual(problem?.change, { kind: 'setting', name: 'cordon.sandbox.git' });
    const managed = policyRows({ ...state, policy: fail({ ...error, field: '/etc/cordon/policy.json' }) });
    assert.deepEqual(managed[0]?.change, { kind: 'managed', path: '/etc/cordon/policy.json' });
  });
});

describe('the rows of what decides about commands', () => {
  it('show the switches of granular approvals', () => {
    const asks = { sandbox: true, rules: false, permissions: true };
    const rows = policyRows({ ...state, approval: ok({ mode: 'granular', asks, source: 'user' }) });
    assert.deepEqual(
      rowOf(rows, 'Approvals').rows.map(({ value }) => value),
      ['you are asked', 'answered with no', 'you are asked'],
    );
  });

  it('say what is wrong with the approval policy', () => {
    const error = { field: 'cordon.approvals.policy', message: 'It is 3.', hint: 'Correct it.' };
    const approvals = rowOf(policyRows({ ...state, approval: fail(error) }), 'Approvals');
    assert.deepEqual([approvals.value, approvals.tone], ['invalid setting', 'error']);
    assert.equal(approvals.rows[0]?.value, 'It is 3.');
  });

  it('show each rule with its decision and place, and lead there', () => {
    const rule = (place: string, more: Partial<PrefixRule> = {}): PrefixRule => ({
      pattern: [['npm'], ['test', 'run']],
      decision: 'allow',
      runs: 'inside',
      origin: { source: 'user', place },
      ...more,
    });
    const rules = {
      ...noRules,
      prefixes: [
        rule('/home/ann/x.rules:7'),
        rule('/home/ann/x.rules:9', { runs: 'outside' }),
        rule('/etc/cordon/rules/a.rules:3', {
          decision: 'forbidden',
          origin: { source: 'managed', place: '/etc/cordon/rules/a.rules:3' },
        }),
        rule('cordon.rules.commands[0] in the user settings', { decision: 'prompt' }),
        rule('a grant of yours', { origin: { source: 'grant', place: 'a grant of yours' } }),
      ],
    };
    const shown = rowOf(policyRows({ ...state, rules }), 'Rules');
    assert.equal(shown.value, '5 rules');
    assert.deepEqual(
      shown.rows.map(({ label, value }) => `${label}: ${value}`),
      [
        'npm test|run: allowed · /home/ann/x.rules:7',
        'npm test|run: allowed, without a sandbox · /home/ann/x.rules:9',
        'npm test|run: forbidden · /etc/cordon/rules/a.rules:3',
        'npm test|run: you are asked · cordon.rules.commands[0] in the user settings',
        'npm test|run: allowed · a grant of yours',
      ],
    );
    assert.deepEqual(
      shown.rows.map(({ change }) => change),
      [
        { kind: 'file', path: '/home/ann/x.rules', line: 7 },
        { kind: 'file', path: '/home/ann/x.rules', line: 9 },
        { kind: 'managed', path: '/etc/cordon/rules/a.rules', line: 3 },
        { kind: 'setting', name: 'cordon.rules.commands' },
        undefined,
      ],
    );
  });

  it('show rules that cannot be read first', () => {
    const problem = {
      source: 'user' as const,
      place: '/home/ann/x.rules:2:5',
      message: '/home/ann/x.rules:2:5: expected ")".',
    };
    const shown = rowOf(policyRows({ ...state, rules: { ...noRules, problems: [problem] } }), 'Rules');
    assert.deepEqual([shown.value, shown.tone], ['1 problem', 'error']);
    assert.deepEqual(shown.rows[0]?.change, { kind: 'file', path: '/home/ann/x.rules', line: 2 });
  });

  it('show each grant with its end and its command', () => {
    const shown = rowOf(policyRows({ ...state, grants: [grant] }), 'Grants');
    assert.equal(shown.value, '1 in force');
    const [row] = shown.rows;
    assert.deepEqual([row?.label, row?.value], ['Writing to /srv/data', 'until revoked · for “make”']);
    assert.equal(row?.grant, grant);
  });
});
