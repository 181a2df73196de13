import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { childEnvironment, defaultEnvironmentPolicy } from '../../src/sandbox/environment.ts';
import { startPtyChild } from '../../src/terminal/ptyChild.ts';
import type { Edit, RunOptions } from './harness.ts';
import {
  Arena,
  all,
  compileAttack,
  helperPath,
  isRoot,
  ownProcesses,
  ownUser,
  removing,
  removingRule,
  withCapabilities,
  withoutCompanion,
  withoutLastNamespace,
  withoutMount,
} from './harness.ts';

const withoutOuter: Edit = (argv) => argv.slice(argv.indexOf('--') + 1);

describe('A command cannot reach other processes', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let arena: Arena;
  let plain: Arena;
  let attack: string;
  before(() => {
    arena = new Arena();
    plain = new Arena({}, { mountedBy: 'bubblewrap' });
    attack = compileAttack('attack', arena.outside);
  });
  after(() => [arena, plain].forEach((each) => each?.dispose()));

  it('with signals', async () => {
    const victim = spawn('sleep', ['100']);
    const ended = new Promise((resolve) => victim.once('exit', resolve));
    assert.notEqual((await arena.shell(`kill -9 ${victim.pid}`)).exitCode, 0);
    assert.equal(victim.exitCode ?? victim.signalCode, null);
    assert.equal((await plain.shell(`kill -9 ${victim.pid}`, { without: ownProcesses })).exitCode, 0);
    await ended;
  });

  it('with ptrace', async function () {
    const victim = spawn('sleep', ['100']);
    try {
      const argv = [attack, 'ptrace', String(victim.pid)];
      assert.equal((await arena.run(argv)).stdout, 'ESRCH\n');
      if (!isRoot) this.skip(); // without its user namespace bubblewrap does not start for an ordinary user
      assert.equal(
        (await arena.run(argv, { without: all(ownProcesses, ownUser, withoutCompanion) })).stdout,
        'worked\n',
      );
    } finally {
      victim.kill('SIGKILL');
    }
  });

  it('by looking at /proc', async () => {
    const script = `test -e /proc/${process.pid}/environ`;
    assert.equal((await arena.shell(script)).exitCode, 1);
    assert.equal((await plain.shell(script, { without: ownProcesses })).exitCode, 0);
  });

  it('and its own process 1 is under the same filter', async () => {
    const argv = [attack, 'ptrace', '1'];
    assert.equal((await arena.run(argv)).stdout, 'EPERM\n');
    const script = `grep -E 'Seccomp:|NoNewPrivs' /proc/1/status | tr -d '[:space:]'`;
    assert.equal((await arena.shell(script)).stdout, 'NoNewPrivs:1Seccomp:2');
    assert.match((await arena.shell(script, { without: removing('--as-pid-1') })).stdout, /Seccomp:0/);
  });
});

describe('A command cannot reach what processes of the machine share', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let arena: Arena;
  before(() => void (arena = new Arena()));
  after(() => arena.dispose());

  const kinds: Readonly<Record<string, { readonly make: readonly string[]; readonly option: string }>> = {
    'shared memory': { make: ['-M', '16'], option: '-m' },
    'a message queue': { make: ['-Q'], option: '-q' },
    'a semaphore': { make: ['-S', '1'], option: '-s' },
  };
  for (const [name, { make, option }] of Object.entries(kinds)) {
    it(`${name} of System V`, async () => {
      const id = /\d+/.exec(execFileSync('ipcmk', make, { encoding: 'utf8' }))?.[0] ?? '';
      const exists = (): boolean => execFileSync('ipcs', [option], { encoding: 'utf8' }).includes(` ${id} `);
      try {
        assert.ok(exists());
        const script = `ipcs ${option} -i ${id}; ipcrm ${option} ${id}`;
        const { stdout, stderr } = await arena.shell(script);
        assert.match(stdout + stderr, /invalid id|id .* not found|Invalid argument|does not exist/i);
        assert.ok(exists());
        // Negative control.
        await arena.shell(script, { without: removing('--unshare-ipc') });
        assert.equal(exists(), false);
      } finally {
        if (exists()) execFileSync('ipcrm', [option, id]);
      }
    });
  }
});

describe('A command cannot use calls that reach past its namespaces', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let arena: Arena;
  let attack: string;
  before(() => {
    arena = new Arena();
    attack = compileAttack('attack', arena.outside);
  });
  after(() => arena.dispose());

  const run = async (name: string, without?: Edit): Promise<string> =>
    (await arena.run([attack, name], without === undefined ? {} : { without })).stdout.trim();

  const table: readonly (readonly [attack: string, error: string, rule: string])[] = [
    ['add-key', 'EPERM', 'keys'],
    ['io-uring', 'ENOSYS', 'io_uring'],
    ['userfaultfd', 'EPERM', 'kernel surface'],
    ['personality', 'EPERM', 'weaker memory protection'],
    ['kcmp', 'EPERM', 'kernel addresses'],
    ['netlink', 'EAFNOSUPPORT', 'netlink other than route'],
  ];
  for (const [name, error, rule] of table) {
    it(name, async function () {
      assert.equal(await run(name), error);
      const without = await run(name, removingRule(rule));
      if (without !== 'worked') {
        assert.notEqual(without, error);
        this.skip(); // the kernel of this machine refuses by itself
      }
    });
  }

  for (const name of ['user-namespace', 'clone-user-namespace']) {
    it(`${name}, by the filter and by the kernel's limit`, async () => {
      const rule = removingRule('new namespaces');
      const limit = withoutLastNamespace;
      assert.equal(await run(name), 'EPERM');
      assert.equal(await run(name, limit), 'EPERM');
      assert.equal(await run(name, rule), 'ENOSPC');
      assert.equal(await run(name, all(rule, limit)), 'worked');
    });
  }

  it('remounting, which would make the machine writable for root', async () => {
    assert.equal(await run('remount'), 'EPERM');
    assert.equal(await run('remount', removingRule('mounts')), 'EPERM');
    if (isRoot) {
      assert.equal(await run('remount', withCapabilities), 'worked');
    }
  });

  it('32-bit calls, whose numbers mean something else', async function () {
    if (process.arch !== 'x64') this.skip();
    const outcome = await arena.run([attack, 'i386']);
    assert.equal(outcome.exitCode, 159);
    const { stdout } = await arena.run([attack, 'i386'], { without: withoutCompanion });
    assert.equal(stdout, 'worked\n');
  });

  it('writing kernel settings, which ask for uid 0 only', async function () {
    if (!isRoot) this.skip();
    const script = `require('node:fs').openSync('/proc/sys/kernel/core_pattern', 'r+')`;
    assert.match((await arena.node(script)).stderr, /EROFS/);
    const without = withoutMount('/proc/sys');
    assert.equal((await arena.node(script, { without })).exitCode, 0);
  });
});

describe('A command cannot type into the terminal it was started from', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let arena: Arena;
  let attack: string;
  before(() => {
    arena = new Arena();
    attack = compileAttack('attack', arena.outside);
  });
  after(() => arena.dispose());

  async function onTerminal(argv: readonly string[], tty: boolean, without?: Edit): Promise<string> {
    const launch = await arena.launch(argv, { tty });
    const edited = without?.(launch.argv) ?? launch.argv;
    const child = await startPtyChild({
      argv: edited as [string, ...string[]],
      cwd: launch.cwd,
      env: launch.env,
      size: { columns: 80, rows: 24 },
    });
    let output = '';
    child.onOutput(({ chunk }) => (output += Buffer.from(chunk).toString('latin1')));
    await new Promise<void>((resolve) => child.onDrained(() => resolve()));
    await launch.release();
    return output;
  }

  const canInject = (): boolean => {
    try {
      return readFileSync('/proc/sys/dev/tty/legacy_tiocsti', 'utf8').trim() === '1';
    } catch {
      return true; // kernels before 6.2 always can
    }
  };

  it('with TIOCSTI on its own terminal, high bits of the request included', async function () {
    const argv = [attack, 'tiocsti', '/dev/tty'];
    assert.match(await onTerminal(argv, true), /EPERM/);
    if (!canInject()) this.skip(); // dev.tty.legacy_tiocsti=0: the kernel refuses by itself
    assert.match(await onTerminal(argv, true, removingRule('TIOCSTI')), /worked/);
  });

  it('with TIOCSTI on the launcher’s terminal, when it has none itself', async function () {
    const argv = [attack, 'tiocsti', '/dev/tty'];
    assert.match(await onTerminal(argv, false, removingRule('TIOCSTI')), /ENXIO/);
    if (!canInject()) this.skip();
    assert.match(
      await onTerminal(argv, false, all(removing('--new-session'), removingRule('TIOCSTI'))),
      /worked/,
    );
  });
});

describe('A command inherits nothing', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let arena: Arena;
  before(() => void (arena = new Arena()));
  after(() => arena.dispose());

  for (const number of [9, 251, 900]) {
    it(`not the descriptor ${number} of the launcher's parent`, async () => {
      const leak = join(arena.outside, `leak-${number}`);
      const startedBy = ['/bin/bash', '-c', `exec ${number}>>"$0"; exec "$@"`, leak];
      const script = `eval "echo stolen >&${number}"; for fd in /proc/[0-9]*/fd/${number}; do echo stolen > $fd; done`;
      const stolen = async (without?: Edit): Promise<boolean> => {
        writeFileSync(leak, '');
        const options: RunOptions = without === undefined ? { startedBy } : { startedBy, without };
        await arena.shell(script, options);
        return readFileSync(leak, 'utf8').includes('stolen');
      };
      assert.equal(await stolen(), false);
      assert.equal(await stolen(withoutOuter), false);
      assert.equal(await stolen(withoutCompanion), false);
      assert.equal(await stolen(all(withoutOuter, withoutCompanion)), true);
    });
  }

  it('no secrets and no doors from the editor’s environment', async () => {
    const parent = {
      ...process.env,
      MY_API_KEY: 'hunter2',
      GITHUB_TOKEN: 'hunter2',
      SSH_AUTH_SOCK: '/run/hunter2',
    };
    const rest = { parent, isTty: false, isNetworkOff: true };
    const env = childEnvironment({ ...rest, policy: defaultEnvironmentPolicy });
    assert.doesNotMatch((await arena.run(['env'], { env })).stdout, /hunter2/);
    const policy = { ...defaultEnvironmentPolicy, inherit: 'all', ignoreDefaultExcludes: true } as const;
    const open = childEnvironment({ ...rest, policy });
    assert.match((await arena.run(['env'], { env: open })).stdout, /MY_API_KEY=hunter2/);
  });

  it('no library that is loaded into the launcher, before anything is confined', async () => {
    const library = compileAttack('preload', arena.outside, ['-shared', '-fPIC']);
    const trace = join(arena.outside, 'trace');
    const env = { LD_PRELOAD: library, CORDON_TRACE: trace };
    await arena.run(['true'], { env });
    assert.equal(existsSync(trace), false);
    await arena.run(['true'], { env, launcherEnv: env });
    assert.equal(existsSync(trace), true);
  });
});

describe('The companion program', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  it('does not run the command when it is told something that it does not understand', async () => {
    const arena = new Arena();
    try {
      const marker = join(arena.root, 'ran');
      for (const args of [
        ['--seccomp', 'zz', '--'],
        ['--seccomp', '', '--'],
        ['--seccomp', '0600000000000080ff', '--'],
        ['--seccomp', 'ff'.repeat(8), '--'],
        ['--surprise', '--'],
        ['--foreground', '--'],
      ]) {
        const child = spawn(helperPath, [...args, '/usr/bin/touch', marker], {
          stdio: ['ignore', 'pipe', 'pipe'],
        });
        assert.equal(await new Promise((resolve) => child.once('close', resolve)), 125, args.join(' '));
      }
      assert.equal(existsSync(marker), false);
    } finally {
      arena.dispose();
    }
  });
});
