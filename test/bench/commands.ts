import { spawn } from 'node:child_process';
import { createLocalBackend } from '../../src/runtime/exec/localBackend.ts';
import { createTestRuntime, createTestSandbox, testPolicy } from '../harness/testRuntime.ts';
import { printRatios, race } from './statistics.ts';

const env = { PATH: '/usr/bin:/bin' };
const plainBubblewrap = [
  ...['--unshare-all', '--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
  ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp'],
];

/** `/bin/true` from the call to its answer: nothing around it, plain bubblewrap, Cordon's backend, the whole tool. */
export async function measureCommands(rounds = 60): Promise<void> {
  const confined = await createTestRuntime();
  const open = await createTestRuntime({ mode: 'danger-full-access' });
  const backend = createLocalBackend(createTestSandbox());
  const policy = testPolicy(confined.root);
  const run = async (tty: boolean): Promise<void> => {
    const size = { columns: 80, rows: 24 };
    const params = { argv: ['/bin/true'], cwd: confined.root, env, policy, ...(tty && { tty: size }) };
    const started = await backend.start(params);
    if (!started.ok) {
      throw new Error(started.error.message);
    }
    await started.value.closed;
  };
  const tool = { cmd: '/bin/true', shell: '/bin/sh', login: false };
  const medians = await race(
    {
      'no sandbox': () => spawnToEnd('/bin/true', []),
      'plain bwrap': () =>
        spawnToEnd('bwrap', [...plainBubblewrap, '--bind', confined.root, confined.root, '/bin/true']),
      'Cordon, exec backend, pipes': () => run(false),
      'Cordon, exec backend, tty': () => run(true),
      'Cordon, exec_command': () => confined.call('exec_command', tool),
      'Cordon, exec_command, full access': () => open.call('exec_command', tool),
    },
    { rounds },
  );
  printRatios('/bin/true, start to answer, against plain bwrap (median)', medians, 'plain bwrap');
  printRatios('the same against no sandbox', medians, 'no sandbox');
  await confined.dispose();
  await open.dispose();
}

async function spawnToEnd(file: string, args: readonly string[]): Promise<void> {
  await new Promise((resolve, reject) => {
    const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.resume();
    child.stderr.resume();
    child.once('error', reject);
    child.once('close', resolve);
  });
}
