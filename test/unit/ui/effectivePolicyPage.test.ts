import assert from 'node:assert/strict';
import { fail, ok } from '../../../src/base/result.ts';
import { defaultApproval } from '../../../src/runtime/approvals/approvalPolicy.ts';
import { effectivePolicyPage } from '../../../src/ui/effectivePolicyPage.ts';
import { allFrom, policyOf } from '../../harness/policyOf.ts';

const root = { name: 'project', path: '/w' };
const surroundings = {
  launcher: 'bubblewrap 0.8.0 (/usr/bin/bwrap).',
  parentEnv: { PATH: '/usr/bin', EXAMPLE_TOKEN: 'secret-value', HOME: '/home/ann' },
  approval: ok({ ...defaultApproval, source: 'workspace' } as const),
  grants: [],
  now: new Date(),
};

describe('the page of the effective policy', () => {
  const policy = policyOf('/w', {
    network: 'allow-list',
    hosts: { allow: [{ host: '*.example.org', port: 443 }], deny: [{ host: 'ads.example.org' }] },
    files: [
      { path: '/w', access: 'write', source: 'default', writtenAs: ':workspace' },
      { path: '/home/ann/.ssh', access: 'none', source: 'default', writtenAs: ':secrets' },
      { path: '/', access: 'read', source: 'default' },
      { path: '/srv', access: 'read', source: 'profile', writtenAs: '/srv-link' },
    ],
    hidden: [{ folder: '/w', glob: '**/.env*', source: 'workspace' }],
    sockets: ['/run/example.sock'],
    limits: { processes: 512 },
    sources: { ...allFrom('default'), network: 'grant', hosts: 'user', files: 'profile' },
  });
  const page = effectivePolicyPage(root, ok(policy), surroundings);

  it('says for each clause what it means, who decided it and where to change it', () => {
    const sections = page.split(/^## /m).slice(1);
    assert.deepEqual(
      sections.map((section) => section.split('\n')[0]),
      [
        'Mode: Workspace write',
        'Network limited to allowed hosts',
        'Hosts',
        'Git: Read only',
        'Caches: Off',
        'Temporary folder: Private',
        'Files',
        'Hidden names',
        'Protected names',
        'Sockets of this machine',
        'Environment',
        'Limits',
        'When you are asked: On request',
        'Enforced by',
      ],
    );
    assert.match(
      sections[1] ?? '',
      /through a proxy.*\nDecided by: your choice here. Change: cordon\.sandbox\.network/,
    );
    assert.match(sections.at(-1) ?? '', /bubblewrap 0\.8\.0/);
  });

  it('sorts the rules for files by depth, with purpose and source', () => {
    const rows = page.split('\n').filter((line) => /^\| (?:none|read|write) /.test(line));
    assert.deepEqual(
      rows.map((row) =>
        row
          .split('|')
          .map((cell) => cell.trim())
          .slice(1, 5),
      ),
      [
        ['read', '/', 'the whole disk', 'default'],
        ['read', '/srv', 'written as /srv-link', 'your profile'],
        ['write', '/w', 'the folder itself (:workspace)', 'default'],
        ['none', '/home/ann/.ssh', 'secrets (:secrets)', 'default'],
      ],
    );
  });

  it('lists hosts, hidden names, sockets and limits', () => {
    assert.match(page, /\| allow +\| \*\.example\.org:443 +\|/);
    assert.match(page, /\| deny +\| ads\.example\.org +\|/);
    assert.match(page, /\| \*\*\/\.env\* +\| \/w +\| narrowed by the workspace \|/);
    assert.match(page, /- \/run\/example\.sock/);
    assert.match(page, /\| processes and threads +\| 512 +\|/);
  });

  it('names variables without their values', () => {
    assert.match(page, /CORDON_SANDBOX.*\bPATH\b/);
    assert.ok(
      !page.includes('EXAMPLE_TOKEN') && !page.includes('secret-value') && !page.includes('/usr/bin,'),
    );
  });

  it('lists the grants in force with their ends', () => {
    assert.ok(!page.includes('## Grants'));
    const granted = effectivePolicyPage(root, ok(policy), {
      ...surroundings,
      grants: [
        {
          id: 'g',
          root: '/w',
          what: { kind: 'path', path: '/srv/data', access: 'write' },
          lasts: 'root',
          grantedAt: surroundings.now.getTime(),
          because: 'make | tee log',
        },
      ],
    });
    const section = granted.split(/^## /m).find((text) => text.startsWith('Grants')) ?? '';
    assert.match(section, /^- Writing to \/srv\/data, until revoked: granted at .* for “make \| tee log”$/m);
    assert.match(section, /Cordon: Revoke Grants…/);
  });

  it('tells when somebody is asked, and what is wrong where that is not known', () => {
    assert.match(
      page,
      /^## When you are asked: On request\n\n.*\nDecided by: narrowed by the workspace\. Change: cordon\.approvals\.policy$/m,
    );
    const problem = { field: 'f', message: 'cordon.approvals.policy is 3.', hint: 'Correct it.' };
    const wrong = effectivePolicyPage(root, ok(policy), { ...surroundings, approval: fail(problem) });
    assert.match(wrong, /^## When you are asked\n\ncordon\.approvals\.policy is 3\. Correct it\.$/m);
  });

  it('is short when nothing is confined', () => {
    const open = effectivePolicyPage(root, ok({ ...policy, mode: 'danger-full-access' }), surroundings);
    assert.match(open, /Nothing is confined/);
    assert.ok(!open.includes('## Files'));
  });

  it('shows an invalid setting with field, value and cure', () => {
    const problem = { field: 'cordon.sandbox.git', message: 'cordon.sandbox.git is 3.', hint: 'Correct it.' };
    const text = effectivePolicyPage(root, fail(problem), surroundings);
    assert.match(
      text,
      /No command runs here.*## What is wrong\n\ncordon\.sandbox\.git is 3\..*Correct it\..*Change: cordon\.sandbox\.git/s,
    );
  });

  it('tells that nobody has looked for a launcher yet', () => {
    assert.match(
      effectivePolicyPage(root, ok(policy), { ...surroundings, launcher: undefined }),
      /Check Sandbox/,
    );
  });

  it('says of another machine only what is known of it', () => {
    const elsewhere = 'Commands of `/w` run in `/srv/w` of the environment build (ssh build): not connected';
    const there = effectivePolicyPage({ ...root, environment: 'build' }, ok(policy), {
      ...surroundings,
      elsewhere,
    });
    assert.ok(there.includes(elsewhere));
    assert.doesNotMatch(there, /HOME|bubblewrap|Commands in/);
    const error = { field: 'cordon.environment', message: 'It was not asked there yet.', hint: 'Soon.' };
    const unknown = effectivePolicyPage(root, fail(error), { ...surroundings, elsewhere });
    assert.match(unknown, /not asked there yet\.\n\nSoon\./);
    assert.doesNotMatch(unknown, /not valid/);
  });
});
