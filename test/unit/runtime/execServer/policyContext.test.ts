import assert from 'node:assert/strict';
import { sandboxContext } from '../../../../src/runtime/execServer/protocol/sandboxContext.ts';
import {
  contextOfPolicy,
  environmentForPeers,
} from '../../../../src/runtime/execServer/client/policyContext.ts';
import { inWordsOfPeers, literally } from '../../../../src/runtime/execServer/client/peerGlobs.ts';
import { confinementOf } from '../../../../src/runtime/execServer/services/sandboxContext/confinement.ts';
import type { ContextMachine } from '../../../../src/runtime/execServer/services/sandboxContext/contextMachine.ts';
import { defaultEnvironmentPolicy } from '../../../../src/sandbox/environment.ts';
import { accesses, accessTo, globMatcher } from '../../../../src/sandbox/policy/fileRules.ts';
import { nodeMachine } from '../../../../src/sandbox/policy/nodeMachine.ts';
import type { SandboxPolicy } from '../../../../src/sandbox/policy/policy.ts';
import { resolvePolicy } from '../../../../src/sandbox/policy/resolve.ts';
import { writeAccess } from '../../../../src/sandbox/writeAccess.ts';
import { allFrom, bareMachine, policyOf } from '../../../harness/policyOf.ts';
import { Random } from '../../../harness/random.ts';
import { randomPath, randomPolicy } from '../../../harness/randomPolicy.ts';

const shared = ['/tmp', '/var/tmp'];
const machine: ContextMachine = {
  ...bareMachine,
  platform: 'linux',
  temporaryDirectories: [],
  sharedFolders: shared,
  linksTo: () => [],
};

/** What a server makes of the context. */
async function asEnforced(policy: SandboxPolicy): Promise<SandboxPolicy> {
  const context = contextOfPolicy(policy);
  assert.ok(context.ok, context.ok ? '' : context.error.message);
  const sandbox = sandboxContext.parse(JSON.parse(JSON.stringify(context.value.sandbox)));
  const answer = await confinementOf({ sandbox }, { kind: 'process', cwd: '/' }, machine);
  assert.ok(answer.ok, answer.ok ? '' : answer.error.message);
  return answer.value.policy;
}

/** Whether a path is more open there than the policy lets it be. */
function isWider(there: SandboxPolicy, policy: SandboxPolicy, path: string): boolean {
  // The launcher decides about these where no rule does.
  const temporary = shared
    .filter((folder) => !policy.files.some((rule) => rule.path === folder))
    .map((folder) => ({
      path: folder,
      access: policy.tmp === 'private' ? ('none' as const) : ('read' as const),
      source: 'default' as const,
    }));
  const own = accessTo({ files: [...policy.files, ...temporary], hidden: policy.hidden }, path);
  const given = accessTo(there, path);
  return given === 'write'
    ? writeAccess(policy, shared)(path) !== undefined
    : accesses.indexOf(given) > accesses.indexOf(own);
}

describe('A policy in the words of other servers', () => {
  it('is never wider than it is', async () => {
    const seed = Number(process.env['CORDON_FUZZ_SEED'] ?? 20_261_130);
    for (let round = 0; round < 300; round++) {
      const random = new Random(seed + round);
      const drawn = randomPolicy(random);
      const policy: SandboxPolicy = {
        ...drawn,
        sockets: [],
        limits: {},
        network: random.chance(0.5) ? 'off' : 'on',
      };
      const there = await asEnforced(policy);
      const paths = [
        ...shared,
        '/',
        '/run',
        '/tmp/x',
        ...Array.from({ length: 200 }, () => randomPath(random, policy)),
      ];
      const wider = paths.filter((path) => isWider(there, policy, path));
      assert.deepEqual(wider, [], `seed ${seed + round}`);
      assert.equal(there.network, policy.network);
    }
  });

  it('and the comparison notices a context without what the policy implies', async () => {
    const policy = policyOf('/nowhere/c', { tmp: 'private' });
    const there = await asEnforced(policy);
    const naive = { ...there, files: policy.files };
    assert.deepEqual(
      ['/tmp', '/nowhere/c/.vscode/x', '/nowhere/c/x'].map((path) => isWider(naive, policy, path)),
      [true, true, false],
    );
  });

  it('keeps what the defaults hide hidden, and the root writable', async () => {
    const resolved = resolvePolicy({
      ...nodeMachine(),
      root: import.meta.dirname,
      isTrusted: true,
      user: {},
    });
    assert.ok(resolved.ok);
    const there = await asEnforced(resolved.value);
    const root = import.meta.dirname;
    assert.deepEqual(
      [
        `${root}/x`,
        `${root}/.env`,
        `${root}/a/.env.local`,
        `${root}/a/id_rsa`,
        `${root}/.vscode`,
        '/run/x',
        '/tmp/x',
      ].map((path) => accessTo(there, path)),
      ['write', 'none', 'none', 'none', 'read', 'none', 'none'],
    );
  });

  for (const [clause, policy] of [
    ['network', policyOf('/r', { network: 'allow-list' })],
    ['sockets', policyOf('/r', { sockets: ['/run/docker.sock'] })],
    ['limits', policyOf('/r', { limits: { processes: 9 }, sources: allFrom('user') })],
  ] as const) {
    it(`is refused where it needs the clause ${clause}`, () => {
      const context = contextOfPolicy(policy);
      assert.ok(!context.ok);
      assert.equal(context.error.kind, 'clause-unenforceable');
      assert.match(context.error.message, new RegExp(`cannot enforce cordon\\.sandbox\\.${clause}:`));
    });
  }

  it('says where the server gives less', () => {
    const context = contextOfPolicy(
      policyOf('/r', { git: 'commands', caches: 'private', limits: { processes: 9 } }),
    );
    assert.ok(context.ok);
    assert.match(context.value.notes.join(' '), /\.git folder.*Caches.*no \/tmp.*default limits/);
    const plain = contextOfPolicy(policyOf('/r', { mode: 'read-only', tmp: 'shared', writableRoots: [] }));
    assert.equal(plain.ok && plain.value.notes.length, 1);
  });

  it('takes what no command gets out of the environment', () => {
    const policy = {
      ...defaultEnvironmentPolicy,
      exclude: ['MINE'],
      set: { LD_PRELOAD: '/x.so', NODE_OPTIONS: '--mine', A: 'b' },
    };
    const { exclude, set, inherit } = environmentForPeers(policy);
    assert.deepEqual([set, inherit], [{ NODE_OPTIONS: '--mine', A: 'b' }, 'core']);
    assert.ok(['MINE', 'NODE_OPTIONS', 'LD_*', 'SSH_AUTH_SOCK'].every((name) => exclude.includes(name)));
  });
});

describe('inWordsOfPeers()', () => {
  for (const [glob, expected] of [
    ['**/.env', '**/.env'],
    ['**/.env.!(example|dist)', '**/.env.*'],
    ['**/id_{rsa,dsa}', '**/id_{rsa,dsa}'],
    ['a/@(b|c)/[^x]', 'a/*/[!x]'],
    ['+(a|!(b))x', '*x'],
    ['x{1..9}', 'x*'],
    ['[[:alpha:]]', '?'],
    ['x/a**b', 'x/**'],
    ['**+(a)/b', '**/b'],
  ] as const) {
    it(`says ${glob} as ${expected}`, () => {
      assert.equal(inWordsOfPeers(glob), expected);
    });
  }

  it('matches all that it matched', () => {
    const random = new Random(7);
    const parts = ['a', 'b', '*', '**', '?', '/', '.', '!(a)', '@(a|b)', '[^a]', '[ab]', '{a,b}', '+(b)'];
    const names = ['a', 'b', 'ab', '.a', 'ba', 'aab', 'b.a'];
    for (let round = 0; round < 3000; round++) {
      const glob = Array.from({ length: random.integer(1, 5) }, () => random.pick(parts)).join('');
      const path = Array.from({ length: random.integer(1, 3) }, () => random.pick(names)).join('/');
      if (globMatcher(glob)(path)) {
        const said = inWordsOfPeers(glob).replaceAll('[!', '[^');
        assert.ok(globMatcher(said)(path), `${glob} matches ${path}, ${said} does not`);
      }
    }
  });

  it('lets a path mean itself', () => {
    const path = '/a[b]*{c}?\\d';
    assert.ok(globMatcher(literally(path))(path));
  });
});
