import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { accessTo } from '../../src/sandbox/policy/fileRules.ts';
import { formatHostPattern } from '../../src/sandbox/policy/hostRules.ts';
import type { PolicyInput } from '../../src/sandbox/policy/input.ts';
import type { SandboxPolicy } from '../../src/sandbox/policy/policy.ts';
import { resolvePolicy } from '../../src/sandbox/policy/resolve.ts';
import { bareMachine } from '../harness/policyOf.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'policy.md'), 'utf8');
const root = '/home/ann/project';

/** What each recipe must bring about. */
const checks: Readonly<Record<string, (policy: SandboxPolicy) => void>> = {
  'Let npm download, and nothing else': ({ network, hosts }) => {
    assert.equal(network, 'allow-list');
    assert.deepEqual(hosts.allow.map(formatHostPattern), ['registry.example.org:443']);
  },
  'Share your caches': ({ caches }) => assert.equal(caches, 'shared'),
  'Protect files, hide secrets': (policy) => {
    const access = (path: string): string => accessTo(policy, join(root, path));
    assert.equal(access('package-lock.json'), 'read');
    assert.equal(access('migrations/1.sql'), 'read');
    assert.equal(access('app/.env.local'), 'none');
    assert.equal(access('keys/a'), 'none');
    assert.equal(access('src/a'), 'write');
  },
  'Open a secret for one kind of work': (policy) => {
    assert.equal(accessTo(policy, '/home/ann/.aws/config'), 'read');
    assert.deepEqual(policy.hosts.allow.map(formatHostPattern), ['*.example.com']);
  },
  'A reviewer that only reads': (policy) => {
    assert.equal(policy.mode, 'read-only');
    assert.equal(accessTo(policy, root), 'read');
  },
  'Profiles that build on each other': (policy) => {
    assert.equal(accessTo(policy, join(root, '.env')), 'none');
    assert.equal(policy.limits.processes, 200);
    assert.equal(policy.network, 'allow-list');
  },
  'What nobody on this machine may exceed': (policy) => {
    assert.equal(policy.mode, 'workspace-write');
    assert.equal(policy.network, 'allow-list');
    assert.equal(accessTo(policy, '/srv/payroll/list'), 'none');
    assert.ok(policy.hosts.deny.some(({ host }) => host === 'paste.example.org'));
  },
};

describe('the recipes of docs/policy.md', () => {
  const recipes = page
    .split(/^### /m)
    .slice(1)
    .map((section) => {
      const [title = ''] = section.split('\n');
      const [, kind, json = ''] = /```json( managed)?\n(.*?)\n```/s.exec(section) ?? [];
      return { title, isManaged: kind !== undefined, json };
    });

  it('are all checked here', () => {
    assert.deepEqual(
      recipes.map(({ title }) => title),
      Object.keys(checks),
    );
  });

  for (const { title, isManaged, json } of recipes) {
    it(`do what they say: ${title}`, () => {
      const value = JSON.parse(json) as Readonly<Record<string, unknown>>;
      const input = isManaged
        ? { user: { mode: 'danger-full-access', network: 'on' }, managed: value }
        : fromSettings(value);
      const policy = resolvePolicy({ ...bareMachine, root, isTrusted: true, ...input });
      assert.ok(policy.ok, policy.ok ? '' : policy.error.message);
      checks[title]?.(policy.value);
    });
  }
});

/** Settings by their full names; where a recipe only offers a profile, it is chosen, as in the status bar. */
function fromSettings(
  settings: Readonly<Record<string, unknown>>,
): Pick<PolicyInput, 'user' | 'profile' | 'profiles'> {
  const own = Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [name.replace('cordon.sandbox.', ''), value]),
  );
  const { profiles, profile, ...user } = own;
  return { user, profiles, profile: profile ?? Object.keys(profiles ?? {})[0] };
}
