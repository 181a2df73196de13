import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { wirePolicy } from '../../../../src/runtime/execServer/protocol/cordon.ts';
import { confinementOf } from '../../../../src/runtime/execServer/services/sandboxContext/confinement.ts';
import { contextMachine } from '../../../../src/runtime/execServer/services/sandboxContext/contextMachine.ts';
import { policyHandlers } from '../../../../src/runtime/execServer/services/sandboxContext/policyService.ts';
import { fromWire, toWire } from '../../../../src/runtime/execServer/services/sandboxContext/wirePolicy.ts';
import { fail, ok } from '../../../../src/base/result.ts';
import { nodeMachine } from '../../../../src/sandbox/policy/nodeMachine.ts';
import type { SandboxPolicy } from '../../../../src/sandbox/policy/policy.ts';
import { resolvePolicy } from '../../../../src/sandbox/policy/resolve.ts';
import type { SandboxContext } from '../../../../src/runtime/execServer/protocol/sandboxContext.ts';
import { contextOf, place } from '../../../harness/sandboxContexts.ts';
import { testPolicy } from '../../../harness/testRuntime.ts';
import { policyOf } from '../../../harness/policyOf.ts';
import { Random } from '../../../harness/random.ts';
import { randomPolicy } from '../../../harness/randomPolicy.ts';
import type { TemporaryFolder } from '../../../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../../../harness/temporaryFolder.ts';

const overTheWire = (policy: SandboxPolicy) =>
  fromWire(wirePolicy.parse(JSON.parse(JSON.stringify(toWire(policy)))), nodeMachine());

describe('A policy on the wire', () => {
  let temporary: TemporaryFolder;
  before(async () => {
    temporary = await createTemporaryFolder('wire');
  });
  after(() => temporary.dispose());

  it('comes back as the same value', () => {
    const seed = Number(process.env['CORDON_FUZZ_SEED'] ?? 20_261_130);
    for (let round = 0; round < 300; round++) {
      const policy = randomPolicy(new Random(seed + round));
      const back = overTheWire(policy);
      assert.deepEqual(back, ok(policy), `seed ${seed + round}`);
    }
  });

  it('does so for what the settings of this machine resolve to', () => {
    const policy = resolvePolicy({ ...nodeMachine(), root: temporary.path, isTrusted: true, user: {} });
    assert.ok(policy.ok);
    assert.deepEqual(overTheWire(policy.value), policy);
  });

  it('is refused where a path has become a link', () => {
    const { path } = temporary;
    mkdirSync(join(path, 'real'));
    symlinkSync(join(path, 'real'), join(path, 'link'));
    const link = join(path, 'link');
    const rule = { path: link, access: 'write', source: 'user' } as const;
    for (const [clause, policy] of [
      ['root', policyOf(link, { writableRoots: [] })],
      ['files', policyOf(path, { files: [rule] })],
      ['files', policyOf(path, { files: [{ ...rule, path: join(link, 'missing') }] })],
      ['files', policyOf(path, { hidden: [{ folder: link, glob: '*.pem', source: 'user' }] })],
      ['sockets', policyOf(path, { sockets: [join(link, 'socket')] })],
    ] as const) {
      const back = overTheWire(policy);
      assert.ok(!back.ok && back.error.code === -32_602);
      assert.match(
        back.error.message,
        new RegExp(`^cordon\\.policy\\.${clause}: ${link}.* leads to ${path}/real`),
      );
    }
  });

  it('is refused where it contradicts itself', () => {
    const { path } = temporary;
    const rule = { path, access: 'read', source: 'user' } as const;
    for (const [expected, policy] of [
      [/files: .* more than one rule/, policyOf(path, { files: [rule, { ...rule, access: 'write' }] })],
      [/mode: it is read-only/, policyOf(path, { mode: 'read-only' })],
      [/mode: without a sandbox/, policyOf(path, { mode: 'danger-full-access' })],
      [/files: "\.\.\/x"/, policyOf(path, { hidden: [{ folder: path, glob: '../x', source: 'user' }] })],
      [/files: "a\["/, policyOf(path, { hidden: [{ folder: path, glob: 'a[', source: 'user' }] })],
      [/hosts: .*is no host/, policyOf(path, { hosts: { allow: [{ host: 'a b' }], deny: [] } })],
      [/hosts: .*is no host/, policyOf(path, { hosts: { allow: [], deny: [{ host: 'a', port: 0 }] } })],
      [/limits: processes is 0/, policyOf(path, { limits: { processes: 0 } })],
    ] as const) {
      const back = overTheWire(policy);
      assert.ok(!back.ok);
      assert.match(back.error.message, expected);
    }
  });

  it('is refused with a path that is none here', () => {
    const wire = toWire(policyOf('/a'));
    const back = fromWire({ ...wire, root: 'file://other/a' }, nodeMachine());
    assert.ok(!back.ok && back.error.code === -32_602);
  });

  it('counts as a sandbox unless it confines nothing', async () => {
    const asker = { kind: 'process', cwd: temporary.path } as const;
    const confined = await confinementOf(
      { policy: toWire(policyOf(temporary.path)) },
      asker,
      contextMachine(),
    );
    assert.ok(confined.ok);
    assert.equal(confined.value.sandboxType, 'linuxSeccomp');
    const open = policyOf(temporary.path, { mode: 'danger-full-access', network: 'on', tmp: 'shared' });
    const unconfined = await confinementOf({ policy: toWire(open) }, asker, contextMachine());
    assert.ok(unconfined.ok);
    assert.equal(unconfined.value.sandboxType, 'none');
  });
});

describe('cordon/policy/resolve', () => {
  let temporary: TemporaryFolder;
  before(async () => {
    temporary = await createTemporaryFolder('resolve');
  });
  after(() => temporary.dispose());

  const call = { trace: undefined, signal: new AbortController().signal, holdUntilTaken: () => {} };
  const resolve = (input: Record<string, unknown>, managed: unknown = undefined) =>
    policyHandlers({ managed: () => ok(managed) })['cordon/policy/resolve']?.({ input }, call);

  it('gives the policy that the settings mean here, narrowed by this machine’s administrator', async () => {
    const root = pathToFileURL(temporary.path).href;
    const user = { network: 'on', files: { '~/x': 'none' } };
    const answer = await resolve({ root, isTrusted: true, user }, { network: 'off' });
    assert.ok(answer !== undefined && 'policy' in answer);
    const policy = fromWire(answer.policy, nodeMachine());
    assert.ok(policy.ok);
    assert.deepEqual(
      [policy.value.root, policy.value.network, policy.value.sources.network],
      [temporary.path, 'off', 'managed'],
    );
    assert.ok(policy.value.files.some(({ path }) => path === join(nodeMachine().homeDir, 'x')));
  });

  it('says what is wrong with them, with the root, and with the administrator’s file', async () => {
    writeFileSync(join(temporary.path, 'file'), '');
    const input = { root: pathToFileURL(temporary.path).href, isTrusted: true, user: {} };
    const wrong = await resolve({ ...input, user: { network: 'maybe' } });
    assert.ok(wrong !== undefined && 'problem' in wrong);
    assert.equal(wrong.problem.field, 'cordon.sandbox.network');
    for (const name of ['missing', 'file']) {
      const answer = await resolve({ ...input, root: `${input.root}/${name}` });
      assert.ok(answer !== undefined && 'problem' in answer);
      assert.equal(answer.problem.field, 'root');
    }
    const problem = { field: 'f', message: 'm', hint: 'h', source: 'managed' } as const;
    assert.deepEqual(
      await policyHandlers({ managed: () => fail(problem) })['cordon/policy/resolve']?.({ input }, call),
      { problem },
    );
  });

  it('refuses what is no input', () => {
    assert.throws(() => resolve({ root: '/plain', isTrusted: true, user: {} }), { code: -32_602 });
    assert.throws(() => resolve({ root: 'file:///', isTrusted: true, user: {}, managed: {} }), {
      code: -32_602,
    });
  });
});

describe('What the administrator of the executing machine demands', () => {
  const asker = { kind: 'process', cwd: '/' } as const;
  const managed = { network: 'off', limits: { processes: 7 } };
  const machine = { ...contextMachine(), managed: () => ok(managed) };

  it('narrows a policy that arrives whole', async () => {
    const sent = toWire(testPolicy('/usr', { network: 'on' }));
    const answer = await confinementOf({ policy: sent }, asker, machine);
    assert.ok(answer.ok);
    const { network, limits } = answer.value.policy;
    assert.deepEqual([network, limits.processes], ['off', 7]);
  });

  it('narrows a context', async () => {
    const context = contextOf([place('root', 'read')]);
    const permissions = { ...context.permissions, network: 'enabled' };
    const sandbox = { ...context, permissions } as SandboxContext;
    const answer = await confinementOf({ sandbox }, asker, machine);
    assert.ok(answer.ok, JSON.stringify(answer));
    assert.equal(answer.value.policy.network, 'off');
  });

  it('lets nothing run without a sandbox', async () => {
    const open = toWire(testPolicy('/usr', { mode: 'danger-full-access' }));
    for (const request of [{}, { policy: open }]) {
      const answer = await confinementOf(request, asker, machine);
      assert.ok(!answer.ok);
      assert.match(answer.error.message, /administrator.*without a sandbox/);
    }
  });

  it('stops everything when it cannot be read', async () => {
    const problem = { field: 'f', message: 'It is broken.', hint: 'Mend it.', source: 'managed' } as const;
    const answer = await confinementOf({}, asker, { ...machine, managed: () => fail(problem) });
    assert.ok(!answer.ok);
    assert.equal(answer.error.message, 'It is broken. Mend it.');
  });
});
