import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import type { SandboxPolicy } from '../../src/sandbox/policy/policy.ts';
import { probes, secretName } from '../../src/sandbox/selfTest/probes.ts';
import type { ProbeResult, SelfTestResult } from '../../src/sandbox/selfTest/selfTest.ts';
import { isTrouble, runSelfTest } from '../../src/sandbox/selfTest/selfTest.ts';
import { selfTestPage, selfTestTrouble } from '../../src/sandbox/selfTest/selfTestPage.ts';
import { waitFor } from '../harness/waitFor.ts';
import type { Edit } from './harness.ts';
import {
  Arena,
  all,
  finished,
  helperPath,
  isRoot,
  ownProcesses,
  ownUser,
  removing,
  removingRule,
  replacingMount,
  withCapabilities,
  withoutCompanion,
  withoutLastNamespace,
  withoutMount,
  writableMachine,
} from './harness.ts';

const withoutOuter: Edit = (argv) => argv.slice(argv.indexOf('--') + 1);

async function selfTest(
  arena: Arena,
  policy: SandboxPolicy,
  edit?: Edit,
  only?: string,
): Promise<SelfTestResult> {
  const result = await runSelfTest({
    manager: arena.manager,
    policy,
    companion: helperPath,
    probes: probes.filter(({ name }) => only === undefined || name === only),
    ...(edit === undefined ? {} : { edit }),
  });
  assert.ok(result.ok, result.ok ? '' : result.error.message);
  return result.value;
}

const verdicts = (results: readonly ProbeResult[]): string[] =>
  results.filter(isTrouble).map(({ probe, verdict, detail }) => `${probe.name}: ${verdict} ${detail ?? ''}`);

describe('The self-test', function () {
  this.timeout(120_000);
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let arena: Arena;
  let plain: Arena;
  let landlock: Arena;
  before(() => {
    arena = new Arena();
    plain = new Arena({}, { mountedBy: 'bubblewrap' });
    landlock = new Arena({ mode: 'read-only' }, { searchPath: '/nonexistent' });
  });
  after(() => {
    arena.dispose();
    plain.dispose();
    landlock.dispose();
  });

  const hiding = (of: Arena, policy = of.policy()): SandboxPolicy => ({
    ...policy,
    files: [...policy.files, { path: of.outside, access: 'none', source: 'user' }],
  });

  for (const user of [{}, { mode: 'read-only' }, { network: 'on' }] as const) {
    it(`finds that bubblewrap holds everything under ${JSON.stringify(user)}`, async () => {
      const { results, report } = await selfTest(arena, arena.policy(user));
      assert.equal(report.launcher, 'bubblewrap');
      assert.deepEqual(verdicts(results), []);
      assert.equal(results.length, probes.length);
    });
  }

  for (const user of [{ mode: 'read-only' }, { mode: 'read-only', network: 'on' }] as const) {
    it(`finds that Landlock holds everything under ${JSON.stringify(user)}`, async function () {
      if ((await finished(spawn(helperPath, ['--landlock-version']))).exitCode < 6) this.skip();
      const { results, report } = await selfTest(landlock, hiding(landlock, landlock.policy(user)));
      assert.equal(report.launcher, 'landlock');
      assert.deepEqual(verdicts(results), []);
    });
  }

  it('finds that nothing holds where nothing confines', async function () {
    if ((await finished(spawn(helperPath, ['--landlock-version']))).exitCode < 6) this.skip();
    const unconfined: Edit = (argv) => argv.slice(argv.indexOf('--') + 1);
    const { results } = await selfTest(landlock, hiding(landlock), unconfined);
    const held = results.filter(({ verdict }) => verdict !== 'broken').map(({ probe }) => probe.name);
    const onlyForRoot = ['Change a setting of the kernel', 'Mount', 'Hold a capability'];
    // Secrets are taken out of the environment before any launcher sees it.
    assert.deepEqual(held, [...(isRoot ? [] : onlyForRoot), 'Read a secret from the environment']);
  });

  const defences: readonly (readonly [probe: string, without: Edit, where?: 'root' | 'bubblewrap'])[] = [
    ['Write outside', writableMachine],
    ['Change permissions outside', writableMachine],
    ['Look into the machine’s /tmp', withoutMount('/tmp')],
    ['Connect to a server on the machine’s loopback', removing('--unshare-net')],
    ['Connect to an abstract Unix socket', all(removing('--unshare-net'), withoutCompanion)],
    ['Signal another process', ownProcesses, 'bubblewrap'],
    ['See another process', ownProcesses, 'bubblewrap'],
    ['Trace another process', all(ownProcesses, ownUser, withoutCompanion), 'root'],
    ['Change a setting of the kernel', withoutMount('/proc/sys'), 'root'],
    ['Mount', withCapabilities, 'root'],
    ['Make a user namespace', all(removingRule('new namespaces'), withoutLastNamespace)],
    ['Hold a capability', withCapabilities, 'root'],
    ['Use the kernel’s keyring', removingRule('keys')],
    ['Use io_uring', removingRule('io_uring')],
    ['Use userfaultfd', removingRule('kernel surface')],
    ['Type into the terminal', removingRule('TIOCSTI')],
    ['Use an inherited descriptor', all(withoutOuter, withoutCompanion)],
  ];
  for (const [name, without, where] of defences) {
    it(`notices that one defence is missing: ${name}`, async function () {
      if (where === 'root' && !isRoot) this.skip();
      const of = where === 'bubblewrap' ? plain : arena;
      const [result] = (await selfTest(of, of.policy(), without, name)).results;
      assert.equal(result?.verdict, 'broken', `${result?.verdict} ${result?.detail ?? ''}`);
    });
  }

  it('notices what the environment lets through', async () => {
    const policy = arena.policy();
    const environment = { ...policy.environment, set: { [secretName]: 'x' } };
    const name = 'Read a secret from the environment';
    const [result] = (await selfTest(arena, { ...policy, environment }, undefined, name)).results;
    assert.equal(result?.verdict, 'broken');
  });

  it('notices a sandbox that is too tight', async () => {
    const edit = replacingMount(arena.root, { path: arena.root, kind: 'read' });
    const [result] = (await selfTest(arena, arena.policy(), edit, 'Write outside')).results;
    assert.equal(result?.verdict, 'lost');
    assert.match(result?.detail ?? '', /create/);
  });

  it('tells trouble on its page and says what to do', async () => {
    const result = await selfTest(arena, arena.policy(), writableMachine, 'Write outside');
    assert.match(selfTestPage(result), /✗ Write outside: NOT refused[^]*## What to do/);
    assert.match(selfTestTrouble(result)?.message ?? '', /failed 1 of 1 probes: write outside/);
    const sound = await selfTest(arena, arena.policy(), undefined, 'Write outside');
    assert.match(selfTestPage(sound), /✓ Write outside/);
    assert.equal(selfTestTrouble(sound), undefined);
  });

  it('stops when it is told to, and leaves nothing behind', async () => {
    const clean = new Arena();
    const before = leftovers();
    const controller = new AbortController();
    const result = await runSelfTest({
      manager: clean.manager,
      policy: clean.policy(),
      companion: helperPath,
      signal: controller.signal,
      onResult: (_, count) => {
        if (count === 3) controller.abort();
      },
    });
    assert.ok(result.ok);
    assert.equal(result.value.results.length, 3);
    assert.deepEqual(leftovers(), before);
    await waitFor('an empty root', () => readdirSync(clean.root).length === 0);
    clean.dispose();
  });

  it('says which launcher is missing', async () => {
    const nothing = new Arena({}, { searchPath: '/nonexistent' });
    const result = await runSelfTest({
      manager: nothing.manager,
      policy: nothing.policy(),
      companion: helperPath,
    });
    nothing.dispose();
    assert.ok(!result.ok && result.error.kind === 'bubblewrap-missing');
  });
});

function leftovers(): string[] {
  return [homedir(), tmpdir()].flatMap((folder) =>
    readdirSync(folder).filter((name) => name.includes('cordon-self-test')),
  );
}
