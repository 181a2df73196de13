import assert from 'node:assert/strict';
import { accessTo } from '../../../src/sandbox/policy/fileRules.ts';
import { nodeMachine } from '../../../src/sandbox/policy/nodeMachine.ts';
import type { SandboxPolicy } from '../../../src/sandbox/policy/policy.ts';
import { resolvePolicy } from '../../../src/sandbox/policy/resolve.ts';
import { underManaged } from '../../../src/sandbox/policy/underManaged.ts';

const root = '/usr/share';
const machine = nodeMachine('');

const resolve = (user: object, managed?: object): SandboxPolicy => {
  const policy = resolvePolicy({ ...machine, root, isTrusted: true, user, ...(managed && { managed }) });
  assert.ok(policy.ok, JSON.stringify(policy));
  return policy.value;
};
const narrowed = (policy: SandboxPolicy, managed: unknown): SandboxPolicy => {
  const answer = underManaged(policy, managed, machine);
  assert.ok(answer.ok, JSON.stringify(answer));
  return answer.value;
};
/** What a policy gives, without who decided it. */
const gives = ({ sources: _, files, hidden, ...rest }: SandboxPolicy): object => ({
  ...rest,
  files: Object.fromEntries(files.map(({ path, access }) => [path, access])),
  hidden: hidden.map(({ folder, glob }) => `${folder}/${glob}`),
});

describe('a policy from elsewhere, under the administrator of this machine', () => {
  const users: readonly object[] = [
    {},
    { mode: 'danger-full-access' },
    { network: 'on', tmp: 'shared', git: 'writable', caches: 'shared' },
    { network: 'allow-list', hosts: { 'a.example.org': 'allow', 'b.example': 'allow', '[::1]:80': 'allow' } },
    { sockets: ['/run/a.sock', '/run/b.sock'], limits: { processes: 50 }, writableRoots: ['/var'] },
  ];
  const demands: readonly object[] = [
    { mode: 'read-only' },
    { network: 'off', tmp: 'private', git: 'read-only', caches: 'off' },
    { hosts: { '*.example.org': 'allow', 'b.example': 'deny' } },
    { files: { '/var/log': 'none', '/usr': 'read', '**/*.pem': 'none' } },
    { sockets: ['/run/a.sock'], limits: { processes: 20, cpuSeconds: 5 } },
  ];
  for (const managed of demands) {
    it(`gives what it would have given when resolved here: ${JSON.stringify(managed)}`, () => {
      for (const user of users.filter((one) => !('mode' in one))) {
        assert.deepEqual(gives(narrowed(resolve(user), managed)), gives(resolve(user, managed)));
      }
    });

    it(`changes no more when it was resolved here: ${JSON.stringify(managed)}`, () => {
      for (const user of users) {
        const policy = resolve(user, managed);
        assert.deepEqual(gives(narrowed(policy, managed)), gives(policy));
      }
    });
  }

  it('is confined when anything of that needs a sandbox', () => {
    for (const managed of demands) {
      assert.notEqual(narrowed(resolve({ mode: 'danger-full-access' }), managed).mode, 'danger-full-access');
    }
  });

  it('stays as it is where nobody demands anything', () => {
    const policy = resolve({});
    assert.equal(narrowed(policy, undefined), policy);
  });

  it('is refused when the demands are wrong', () => {
    assert.ok(!underManaged(resolve({}), { mode: 'open' }, machine).ok);
    assert.equal(accessTo(resolve({}), root), 'write');
  });
});
