import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { arm64, x64 } from '../../src/sandbox/linux/seccomp/architectures.ts';
import { sandboxRules } from '../../src/sandbox/linux/seccomp/rules.ts';
import type { DeniedCall } from '../../src/sandbox/denials/deniedCall.ts';
import { waitFor } from '../harness/waitFor.ts';
import type { Edit, Outcome } from './harness.ts';
import { Arena, compileAttack, finished, removing, start } from './harness.ts';

const { calls: numbers } = process.arch === 'arm64' ? arm64 : x64;

/** Every call that a rule refuses whatever its arguments are, and one for each rule about arguments. */
const refused: readonly string[] = [
  ...sandboxRules
    .filter(({ when }) => when === undefined)
    .flatMap(({ calls }) => calls.map((call) => numbers[call]))
    .filter((number) => number !== undefined)
    .map((number) => `${number},0,0,0`),
  `${numbers.unshare},${0x1000_0000},0,0`,
  `${numbers.clone},${0x1000_0011},0,0`,
  `${numbers.personality},${0x0040_0000},0,0`,
  `${numbers.process_vm_readv},1,0,0`,
  `${numbers.ptrace},16,1,0`,
  `${numbers.ioctl},0,${0x5412},0`,
  `${numbers.ioctl},0,${0x541c},0`,
  `${numbers.socket},38,5,0`,
  `${numbers.socket},16,3,12`,
];

describe('What the filter refuses is known outside', function () {
  let runtime: string;
  let arena: Arena;
  let listener: string;
  before(function () {
    if (process.platform !== 'linux') this.skip();
    runtime = realpathSync(mkdtempSync(join(tmpdir(), 'refusals-')));
    arena = new Arena({}, { environment: { XDG_RUNTIME_DIR: runtime } });
    listener = compileAttack('listener', arena.root);
  });
  after(() => {
    arena?.dispose();
    if (runtime !== undefined) rmSync(runtime, { recursive: true });
  });

  const runKnowing = async (
    argv: readonly string[],
    { without, startedBy = [] }: { without?: Edit; startedBy?: readonly string[] } = {},
  ): Promise<Outcome & { readonly denied: readonly DeniedCall[] }> => {
    const launch = await arena.launch(argv);
    const edited = without?.(launch.argv) ?? launch.argv;
    const outcome = await finished(start([...startedBy, ...edited], launch.cwd, launch.env));
    await launch.release();
    return { ...outcome, denied: launch.denied() };
  };
  const withoutRecord: Edit = (argv) => removing('--calls', argv[argv.indexOf('--calls') + 1] ?? '')(argv);

  it('by name and kind, each once, though the command succeeds and says nothing', async () => {
    const mount = `${numbers.mount},0,0,0`;
    const families = [38, 17, 38].map((family) => `${numbers.socket},${family},3,0`);
    const argv = [listener, 'call', mount, mount, ...families, `${numbers.io_uring_setup},0,0,0`];
    const { exitCode, denied } = await runKnowing(argv);
    assert.equal(exitCode, 0);
    assert.deepEqual(denied, [
      { call: 'mount', detail: 0 },
      { call: 'socket', detail: 38 },
      { call: 'socket', detail: 17 },
    ]);
    assert.deepEqual((await runKnowing(argv, { without: withoutRecord })).denied, []);
    assert.deepEqual(readdirSync(join(runtime, 'cordon/leases')), []);
  });

  it('and of an ordinary command there is nothing to tell', async () => {
    const script = 'ls -l /; (sleep 0; echo x) | cat; getent hosts localhost; mkdir a; touch a/b; rm -r a';
    assert.deepEqual((await runKnowing(['/bin/bash', '-c', script])).denied, []);
  });

  it('with the same errors as those of the kernel alone', async () => {
    const argv = [listener, 'call', ...refused];
    const heard = await runKnowing(argv);
    // Nobody gets a second listener: under somebody else's, the sandbox goes without its own.
    const alone = await runKnowing(argv, { startedBy: [listener, 'hold'] });
    assert.equal(heard.stdout.trim().split('\n').length, refused.length);
    assert.match(heard.stdout, new RegExp(`^${numbers.socket} 97$`, 'm'));
    assert.doesNotMatch(heard.stdout, / 0$/m);
    assert.deepEqual([alone.exitCode, alone.stdout], [0, heard.stdout]);
    assert.equal(heard.denied.length, 24);
    assert.deepEqual(alone.denied, []);
  });

  it('and a command gets neither at the one who answers nor at the record', async () => {
    const theft = await runKnowing([listener, 'steal', '1']);
    assert.deepEqual([theft.exitCode, theft.stdout], [1, 'nothing\n']);
    const control = await finished(start([listener, 'steal-from-child'], arena.root, {}));
    assert.equal(control.stdout, 'stolen\n', 'the same theft from an ordinary process works');
    const script = [
      'kill -KILL 1; kill -STOP 1; readlink /proc/1/fd/* /proc/1/fd/4 2>/dev/null; (echo "1 0" > /proc/1/fd/4) 2>/dev/null',
      `(echo "1 0" > ${runtime}/cordon/leases/x) 2>/dev/null`,
      `exec ${listener} call ${numbers.mount},0,0,0`,
    ].join('\n');
    const { stdout, denied } = await runKnowing(['/bin/bash', '-c', script]);
    assert.equal(stdout, `${numbers.mount} 1\n`);
    assert.deepEqual(denied, [{ call: 'mount', detail: 0 }]);
    assert.ok(!existsSync(join(runtime, 'cordon/leases/x')));
  });

  it('and when the one who answers is killed, nothing goes on', async () => {
    const mount = `${numbers.mount},0,0,0`;
    const script = `echo started; while :; do ${listener} call ${mount} >> answers; done`;
    const launch = await arena.launch(['/bin/bash', '-c', script]);
    const child = start(launch.argv, launch.cwd, launch.env);
    const outcome = finished(child);
    const answers = join(arena.root, 'answers');
    await waitFor('the first answer', () => existsSync(answers));
    process.kill(childOf(child.pid ?? 0), 'SIGKILL');
    assert.notEqual((await outcome).exitCode, 0);
    await launch.release();
    const written = (await arena.shell(`sort -u answers`)).stdout;
    assert.equal(written, `${numbers.mount} 1\n`);
  });

  it('and a tool that wants a listener of its own is told that there is one', async () => {
    const busy = 16;
    assert.equal((await arena.run([listener, 'install'])).exitCode, busy);
  });
});

function childOf(pid: number): number {
  const [child] = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((candidate) => parentOf(candidate) === pid);
  return child ?? assert.fail(`no child of ${pid}`);
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(/^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    // It has ended.
    return undefined;
  }
}
