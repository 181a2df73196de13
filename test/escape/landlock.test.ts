import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { buildFilter } from '../../src/sandbox/linux/seccomp/filter.ts';
import { firstUnknownCall, landlockRules } from '../../src/sandbox/linux/landlock/filterRules.ts';
import type { SandboxPolicy } from '../../src/sandbox/policy/policy.ts';
import { startPtyChild } from '../../src/terminal/ptyChild.ts';
import { waitFor } from '../harness/waitFor.ts';
import type { Edit } from './harness.ts';
import { Arena, all, compileAttack, finished, helperPath, isRoot, nodePath, replacing } from './harness.ts';

/** No bubblewrap is found, so that Landlock is what is left. */
const withoutBubblewrap = { searchPath: '/nonexistent' };
const readOnly = { mode: 'read-only' } as const;

/** The command as it is: the proof that the attack works at all. */
const unconfined: Edit = (argv) => argv.slice(argv.indexOf('--') + 1);

const granting =
  (kind: 'read' | 'device', path: string): Edit =>
  (argv) =>
    argv.toSpliced(argv.indexOf('--'), 0, `--${kind}`, path);

/** Takes rules of that name out of the seccomp program. */
const withoutRule =
  (...names: readonly string[]): Edit =>
  (argv) => {
    const rules = landlockRules('off');
    const kept = rules.filter(({ name }) => !names.includes(name));
    assert.ok(kept.length < rules.length, `no rule ${names.join(', ')}`);
    const filter = Buffer.from(buildFilter(kept, { unknownFrom: firstUnknownCall })).toString('hex');
    return argv.with(argv.indexOf('--seccomp') + 1, filter);
  };
const withNetwork = replacing(['--landlock'], ['--landlock', '--network']);

async function landlockVersion(): Promise<number> {
  return (await finished(spawn(helperPath, ['--landlock-version']))).exitCode;
}

describe('Without bubblewrap, under Landlock, a command', function () {
  let arena: Arena;
  let attack: string;
  before(async function () {
    if (process.platform !== 'linux' || (await landlockVersion()) < 6) this.skip();
    arena = new Arena(readOnly, withoutBubblewrap);
    attack = compileAttack('attack', arena.outside);
  });
  after(() => arena?.dispose());

  const victims: ChildProcess[] = [];
  afterEach(() => {
    for (const victim of victims.splice(0)) victim.kill('SIGKILL');
  });
  const startVictim = (): ChildProcess => {
    // Without capabilities, whose lack would protect a victim of root from the command by itself.
    const plain = isRoot ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : [];
    const [file = '', ...args] = [...plain, 'sleep', '100'];
    const victim = spawn(file, args, { stdio: 'ignore' });
    victims.push(victim);
    return victim;
  };
  const attacked = async (argv: readonly string[], without?: Edit): Promise<string> =>
    (await arena.run([attack, ...argv], without === undefined ? {} : { without })).stdout.trim();
  const succeeds = async (script: string, without?: Edit): Promise<boolean> =>
    (await arena.shell(script, without === undefined ? {} : { without })).exitCode === 0;

  it('is confined by Landlock', async () => {
    const launch = await arena.launch(['true']);
    assert.equal(launch.sandbox, 'landlock');
    await launch.release();
    const outcome = await arena.shell('echo out; echo err >&2; cat; exit 7');
    assert.deepEqual(outcome, { exitCode: 7, stdout: 'out\n', stderr: 'err\n' });
  });

  it('ends as it would without', async () => {
    assert.equal((await arena.shell('kill -TERM $$')).exitCode, 143);
    assert.equal((await arena.run(['/nonexistent/program'])).exitCode, 127);
    assert.equal((await arena.run([arena.outside])).exitCode, 126);
  });

  for (const place of ['root', 'outside'] as const) {
    it(`writes nothing in the folder ${place}`, async () => {
      const file = join(arena[place], 'file');
      writeFileSync(file, 'before');
      const script = `echo after >> ${file}`;
      assert.equal(await succeeds(script), false);
      assert.equal(readFileSync(file, 'utf8'), 'before');
      assert.equal(await succeeds(script, granting('device', file)), true);
      assert.equal(readFileSync(file, 'utf8'), 'beforeafter\n');
      const made = join(arena[place], 'made');
      for (const command of [`touch`, 'mkdir', 'ln -s target', 'mkfifo', `ln ${file}`]) {
        assert.equal(await succeeds(`${command} ${made}`), false, command);
        assert.equal(existsSync(made), false);
        assert.equal(await succeeds(`${command} ${made} && rm -d ${made}`, unconfined), true, command);
      }
      for (const command of [`rm ${file}`, `mv ${file} ${made}`]) {
        assert.equal(await succeeds(command), false, command);
        assert.equal(existsSync(file), true);
      }
      assert.equal(await succeeds(`rm ${file}`, unconfined), true);
    });
  }

  it('truncates nothing, not even through a descriptor that only reads', async () => {
    const file = join(arena.outside, 'long');
    writeFileSync(file, 'long');
    assert.equal(await attacked(['truncate', file]), 'EACCES');
    const script = `require('node:fs').openSync(${JSON.stringify(file)}, require('node:fs').constants.O_TRUNC)`;
    assert.match((await arena.node(script)).stderr, /EACCES/);
    assert.equal(readFileSync(file, 'utf8'), 'long');
    assert.equal((await arena.node(script, { without: unconfined })).exitCode, 0);
    assert.equal(readFileSync(file, 'utf8'), '');
  });

  it('changes no mode, owner, time or flag of a file', async () => {
    const file = join(arena.outside, 'metadata');
    writeFileSync(file, '', { mode: 0o600 });
    const { mtimeMs } = statSync(file);
    const rule = withoutRule('metadata');
    for (const command of [`chmod 777 ${file}`, `touch -d @1 ${file}`, `chown "$(id -u)" ${file}`]) {
      assert.equal(await succeeds(command), false, command);
    }
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(statSync(file).mtimeMs, mtimeMs);
    for (const command of [`chmod 777 ${file}`, `touch -cd @1 ${file}`]) {
      assert.equal(await succeeds(command, command.startsWith('chmod') ? rule : unconfined), true, command);
    }
    assert.equal(await attacked(['file-flags', file]), 'ENOTTY');
    const flags = await attacked(['file-flags', file], withoutRule('ioctls of files'));
    assert.ok(['worked', 'ENOTTY', 'EOPNOTSUPP'].includes(flags), flags);
  });

  it('reads nothing that the policy hides, and lists no folder on the way', async () => {
    const { policy, secret } = withSecret(arena);
    const run = async (script: string, without?: Edit): Promise<number> =>
      (await arena.run(['/bin/bash', '-c', script], without === undefined ? {} : { without }, policy))
        .exitCode;
    const place = join(arena.root, 'place');
    for (const script of [
      `cat ${secret}`,
      `ls ${join(place, 'hidden')}`,
      `ls ${place}`,
      `cat ${join(arena.root, 'link')}`,
      `exec 3< ${secret}`,
      secret,
    ]) {
      assert.notEqual(await run(script), 0, script);
    }
    assert.equal(await run(`cat ${join(place, 'open')} && ls ${join(place, 'hidden/again')}`), 0);
    assert.equal(
      await run(`cat ${secret} && cat ${join(arena.root, 'link')}`, granting('read', arena.root)),
      0,
    );
    assert.equal((await arena.run([attack, 'watch', join(place, 'hidden')], {}, policy)).stdout, 'EPERM\n');
    const watching = { without: withoutRule('watching') };
    assert.equal(
      (await arena.run([attack, 'watch', join(place, 'hidden')], watching, policy)).stdout,
      'worked\n',
    );
  });

  it('reads nothing that takes the place of something readable between listing and start', async () => {
    const { policy, secret } = withSecret(arena);
    const open = join(arena.root, 'place/open');
    const launch = await arena.launch(['/bin/cat', open], {}, policy);
    assert.ok(launch.argv.includes(open), 'opened by name');
    const [file = '', ...args] = launch.argv;
    execFileSync('ln', ['-sfn', secret, open]);
    const outcome = await finished(
      spawn(file, args, { cwd: launch.cwd, env: launch.env, stdio: ['ignore', 'pipe', 'pipe'] }),
    );
    assert.equal(outcome.exitCode, 125);
    assert.doesNotMatch(outcome.stdout, /hunter2/);
    await launch.release();
  });

  it('connects to no TCP port, and serves none', async () => {
    const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const probe = async (words: readonly string[], without?: Edit): Promise<number> =>
      (await arena.run([helperPath, '--probe', ...words], without === undefined ? {} : { without })).exitCode;
    for (const words of [['connect', String(port)], ['own-loopback']]) {
      assert.equal(await probe(words), 1);
      assert.equal(await probe(words, withoutRule('sockets')), 1);
      assert.equal(await probe(words, withNetwork), 1);
      assert.equal(await probe(words, all(withNetwork, withoutRule('sockets'))), 0);
    }
    server.close();
  });

  it('sends no UDP', async () => {
    const server = createSocket('udp4').bind(0, '127.0.0.1');
    await once(server, 'listening');
    const script = `const s = require('node:dgram').createSocket('udp4'); s.send('x', ${server.address().port}, '127.0.0.1', () => s.close())`;
    let contacts = 0;
    server.on('message', () => (contacts += 1));
    assert.notEqual((await arena.node(script)).exitCode, 0);
    assert.equal(contacts, 0);
    const contact = once(server, 'message');
    assert.equal(
      (await arena.node(script, { without: withoutRule('sockets', 'ioctls of files') })).exitCode,
      0,
    );
    await contact;
    server.close();
  });

  it('reaches no Unix socket by its path, not even with a datagram of a socket pair', async () => {
    const stream = join(arena.outside, 'stream');
    const server = createServer((socket) => socket.end()).listen(stream);
    await once(server, 'listening');
    const probe = [helperPath, '--probe', 'unix', stream];
    assert.equal((await arena.run(probe)).exitCode, 1);
    assert.equal((await arena.run(probe, { without: withoutRule('sockets') })).exitCode, 0);
    assert.equal(await attacked(['datagram-pair', stream]), 'EOPNOTSUPP');
    // EPROTOTYPE: the server of the test takes streams, but the datagram arrived at its door.
    assert.equal(await attacked(['datagram-pair', stream], withoutRule('datagram pairs')), 'EPROTOTYPE');
    assert.equal(await attacked(['reconnect-pair', stream]), 'EPERM');
    assert.equal(await attacked(['reconnect-pair', stream], withoutRule('sockets')), 'EISCONN');
    server.close();
  });

  it('reaches no abstract Unix socket, by filter and by scope', async () => {
    const name = `cordon-landlock-${process.pid}`;
    const server = createServer((socket) => socket.end()).listen({ path: `\0${name}` });
    await once(server, 'listening');
    const argv = [helperPath, '--probe', 'abstract', name];
    assert.equal((await arena.run(argv)).exitCode, 1);
    assert.equal((await arena.run(argv, { without: withoutRule('sockets') })).exitCode, 1);
    assert.equal((await arena.run(argv, { without: unconfined })).exitCode, 0);
    server.close();
  });

  it('signals nobody outside: neither others nor those who watch over it', async () => {
    const victim = startVictim();
    assert.equal(await succeeds(`kill -9 ${victim.pid}`), false);
    assert.equal(await succeeds('kill -9 $PPID'), false);
    assert.equal(await succeeds(`kill -9 $(ps -o ppid= -p $PPID 2>/dev/null || echo ${process.pid})`), false);
    assert.equal(victim.exitCode ?? victim.signalCode, null);
    const ended = once(victim, 'exit');
    assert.equal(await succeeds(`kill -9 ${victim.pid}`, unconfined), true);
    await ended;
  });

  it('hits nobody else with a signal to everybody', async () => {
    const victim = startVictim();
    assert.equal(
      await succeeds(`kill -0 ${victim.pid}`),
      false,
      'otherwise the next line would end this machine',
    );
    await arena.shell('sleep 100 & trap "" TERM; kill -TERM -1; wait');
    assert.equal(victim.exitCode ?? victim.signalCode, null);
  });

  for (const [name, error, rule] of [
    ['limit', 'EPERM', 'limits of others'],
    ['affinity', 'EPERM', 'limits of others'],
    ['priority', 'EPERM', 'priorities of others'],
  ] as const) {
    it(`changes no ${name} of another process`, async () => {
      const argv = [name, String(startVictim().pid)];
      assert.equal(await attacked(argv), error);
      assert.equal(await attacked(argv, withoutRule(rule)), 'worked');
    });
  }

  it('traces nobody outside, and debugs its own children', async () => {
    const argv = ['ptrace', String(startVictim().pid)];
    assert.equal(await attacked(argv), 'EPERM');
    assert.equal(await attacked(argv, unconfined), 'worked');
    assert.equal((await arena.run([helperPath, '--probe', 'own-trace'])).exitCode, 0);
  });

  it('sees nothing of other processes in /proc', async () => {
    const { pid } = startVictim();
    for (const file of ['cmdline', 'environ', 'status', 'maps', 'fd', 'cwd/']) {
      const script =
        file === 'fd' || file.endsWith('/') ? `ls /proc/${pid}/${file}` : `cat /proc/${pid}/${file}`;
      assert.equal(await succeeds(script), false, file);
      assert.equal(await succeeds(script, unconfined), true, file);
    }
    assert.equal(await succeeds('ls /proc'), false);
    assert.equal(await succeeds(`cat /proc/${pid}/cmdline`, granting('read', '/proc')), true);
    // Even with all of /proc open, the kernel's check of tracing keeps the environment closed, for root, too.
    assert.equal(await succeeds(`cat /proc/${pid}/environ`, granting('read', '/proc')), false);
  });

  it('has no capability, as root either', async function () {
    const argv = [helperPath, '--probe', 'capabilities'];
    assert.equal((await arena.run(argv)).exitCode, 1);
    if (!isRoot) this.skip();
    assert.equal((await arena.run(argv, { without: unconfined })).exitCode, 0);
  });

  it('writes no setting of the kernel, as root either', async function () {
    const script = `require('node:fs').openSync('/proc/sys/kernel/core_pattern', 'r+')`;
    assert.match((await arena.node(script)).stderr, /EACCES/);
    if (!isRoot) this.skip();
    assert.equal((await arena.node(script, { without: unconfined })).exitCode, 0);
  });

  for (const [name, error, rule] of [
    ['add-key', 'EPERM', 'keys'],
    ['io-uring', 'ENOSYS', 'io_uring'],
    ['userfaultfd', 'EPERM', 'kernel surface'],
    ['user-namespace', 'EPERM', 'new namespaces'],
  ] as const) {
    it(`does not get at ${name}`, async function () {
      assert.equal(await attacked([name]), error);
      const without = await attacked([name], withoutRule(rule));
      if (without !== 'worked') {
        assert.notEqual(without, error);
        this.skip(); // the kernel of this machine refuses by itself
      }
    });
  }

  it('does not mount, by the filter, by Landlock and for want of a capability', async function () {
    assert.equal(await attacked(['remount']), 'EPERM');
    assert.equal(await attacked(['remount'], withoutRule('mounts')), 'EPERM');
  });

  it('does not get at the machine’s shared memory and queues', async () => {
    const key = 0xc0de + process.pid;
    assert.equal(await attacked(['shared-memory', String(key)]), 'EPERM');
    assert.equal(
      await attacked(['shared-memory', String(key)], withoutRule('shared memory and queues')),
      'ENOENT',
    );
    assert.equal(await attacked(['message-queue', '/cordon-none']), 'EPERM');
    assert.equal(
      await attacked(['message-queue', '/cordon-none'], withoutRule('shared memory and queues')),
      'ENOENT',
    );
  });

  it('calls nothing that is newer than the filter', async () => {
    const script = `import ctypes; ctypes.CDLL(None, use_errno=True).syscall(${firstUnknownCall}); print(ctypes.get_errno())`;
    assert.equal((await arena.run(['python3', '-c', script])).stdout, '38\n');
  });

  it('types nothing into its terminal', async function () {
    const launch = await arena.launch([attack, 'tiocsti', '/dev/tty'], { tty: true });
    const onTerminal = async (argv: readonly string[]): Promise<string> => {
      const child = await startPtyChild({
        argv: argv as [string, ...string[]],
        cwd: launch.cwd,
        env: launch.env,
        size: { columns: 80, rows: 24 },
      });
      let output = '';
      child.onOutput(({ chunk }) => (output += Buffer.from(chunk).toString('latin1')));
      await new Promise<void>((resolve) => child.onDrained(() => resolve()));
      return output;
    };
    assert.match(await onTerminal(launch.argv), /EPERM/);
    if (readFileSync('/proc/sys/dev/tty/legacy_tiocsti', 'utf8').trim() !== '1') this.skip();
    assert.match(await onTerminal(withoutRule('TIOCSTI')(launch.argv)), /worked/);
  });

  for (const number of [9, 251, 900]) {
    it(`inherits no descriptor ${number}`, async () => {
      const leak = join(arena.outside, `leak-${number}`);
      const startedBy = ['/bin/bash', '-c', `exec ${number}>>"$0"; exec "$@"`, leak];
      const stolen = async (without?: Edit): Promise<boolean> => {
        writeFileSync(leak, '');
        const options = without === undefined ? { startedBy } : { startedBy, without };
        await arena.shell(`eval "echo stolen >&${number}"`, options);
        return readFileSync(leak, 'utf8').includes('stolen');
      };
      assert.equal(await stolen(), false);
      assert.equal(await stolen(unconfined), true);
    });
  }

  /** Nobody else on the machine sleeps for so long. */
  const nap = `1${process.pid}.5`;
  const survivors = `for i in 1 2 3; do setsid bash -c "sleep ${nap} & disown; exec sleep ${nap}" & done; echo ready`;
  const started = async (
    without: Edit = (argv) => argv,
  ): Promise<{ child: ChildProcess; ended: Promise<unknown> }> => {
    const launch = await arena.launch(['/bin/bash', '-c', `${survivors}; sleep ${nap}`]);
    const [file = '', ...args] = without(launch.argv);
    const child = spawn(file, args, {
      cwd: launch.cwd,
      env: launch.env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    assert.ok(child.stdout);
    await once(child.stdout, 'data');
    return { child, ended: once(child, 'close') };
  };

  it('leaves nobody behind: the end of the command is everybody’s end', async () => {
    // The pipe closes only when nobody has it any more.
    const outcome = await arena.shell(`${survivors}; exit 3`);
    assert.deepEqual(outcome, { exitCode: 3, stdout: 'ready\n', stderr: '' });
  });

  it('leaves nobody behind when the launcher is killed', async () => {
    const { child, ended } = await started();
    child.kill('SIGKILL');
    await ended;
  });

  it('leaves nobody behind when the warden is killed', async () => {
    const { child, ended } = await started();
    const warden = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim();
    process.kill(Number(warden), 'SIGKILL');
    await ended;
  });

  it('leaves nobody behind when whoever started the launcher is killed', async () => {
    const launch = await arena.launch(['/bin/bash', '-c', `${survivors}; sleep ${nap}`]);
    const child = spawn('/bin/bash', ['-c', '"$@" & wait', 'bash', ...launch.argv], {
      cwd: launch.cwd,
      env: launch.env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    assert.ok(child.stdout);
    await once(child.stdout, 'data');
    const ended = once(child, 'close');
    child.kill('SIGKILL');
    await ended;
  });

  it('leaves even a fork bomb dead', async () => {
    // It would stop at 256 by itself: the machine is not the test's alone.
    const bomb = `f() { [ $1 -gt 7 ] && exec sleep ${nap}; sleep 0.01; f $(($1 + 1)) & f $(($1 + 1)) & }`;
    const launch = await arena.launch(['/bin/bash', '-c', `${bomb}; f 0; echo ready; sleep ${nap}`]);
    const [file = '', ...args] = launch.argv;
    const child = spawn(file, args, {
      cwd: launch.cwd,
      env: launch.env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    assert.ok(child.stdout);
    await once(child.stdout, 'data');
    const ended = once(child, 'close');
    child.kill('SIGKILL');
    await ended;
  });

  it('would leave somebody behind without', async () => {
    const { child, ended } = await started(unconfined);
    let isOver = false;
    void ended.then(() => (isOver = true));
    child.kill('SIGKILL');
    await once(child, 'exit');
    assert.equal(isOver, false);
    const left = await waitFor('everybody to sleep', () => {
      const sleepers = sleepersFor(nap);
      return sleepers.length >= 6 ? sleepers : undefined;
    });
    for (const pid of left) process.kill(pid, 'SIGKILL');
    await ended;
  });

  it('can be run by an ordinary program: git, Node with children, Python', async () => {
    const clean = new Arena(readOnly, withoutBubblewrap);
    execFileSync('git', ['-c', 'init.defaultBranch=main', 'init', '-q', clean.root]);
    const outcome = await clean.shell(
      `git -c safe.directory='*' status --short --branch && ${nodePath} -p 'require("node:child_process").execFileSync("echo", ["child"]).toString()' && /usr/bin/python3 -c 'print("snake")'`,
      // The home of the account that the suite runs as is hidden, with the git settings in it.
      { env: { HOME: clean.root } },
    );
    clean.dispose();
    assert.deepEqual(outcome, {
      exitCode: 0,
      stdout: '## No commits yet on main\nchild\n\nsnake\n',
      stderr: '',
    });
  });

  it('reaches the network where the policy has it on', async () => {
    const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const argv = [helperPath, '--probe', 'connect', String((server.address() as AddressInfo).port)];
    const policy = arena.policy({ ...readOnly, network: 'on' });
    assert.equal((await arena.run(argv, {}, policy)).exitCode, 0);
    assert.equal((await arena.run([helperPath, '--probe', 'own-unix', '/tmp/none'], {}, policy)).exitCode, 1);
    server.close();
  });
});

describe('The companion, asked for Landlock,', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  it('runs nothing when it is told something that it does not understand', async () => {
    const filter = Buffer.from(buildFilter([])).toString('hex');
    for (const args of [
      ['--'],
      ['--seccomp', filter],
      ['--seccomp', '', '--'],
      ['--seccomp', filter, '--read', '--'],
      ['--seccomp', filter, '--surprise', '--'],
      ['--seccomp', filter, '--foreground', '--'],
      ['--network', '--'],
    ]) {
      const child = spawn(helperPath, ['--landlock', ...args, '/usr/bin/touch', '/dev/null'], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      assert.equal((await finished(child)).exitCode, 125, args.join(' '));
    }
  });

  it('grants nothing through a link', async () => {
    const arena = new Arena();
    const link = join(arena.root, 'link');
    symlinkSync('/etc', link);
    const filter = Buffer.from(buildFilter([])).toString('hex');
    const child = spawn(helperPath, ['--landlock', '--seccomp', filter, '--read', link, '--', 'true'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const outcome = await finished(child);
    arena.dispose();
    assert.deepEqual(
      { ...outcome, stderr: /cannot open/.test(outcome.stderr) },
      { exitCode: 125, stdout: '', stderr: true },
    );
  });
});

/** A policy that hides a folder in the root and opens another in it again, with a link that leads in there. */
function withSecret(arena: Arena): { policy: SandboxPolicy; secret: string } {
  const place = join(arena.root, 'place');
  const hidden = join(place, 'hidden');
  mkdirSync(join(hidden, 'again'), { recursive: true });
  const secret = join(hidden, 'secret');
  const open = join(place, 'open');
  execFileSync('rm', ['-f', open]);
  writeFileSync(open, 'open\n');
  writeFileSync(secret, '#!/bin/sh\necho hunter2\n');
  chmodSync(secret, 0o755);
  const link = join(arena.root, 'link');
  if (!existsSync(link)) symlinkSync(secret, link);
  const policy = arena.policy();
  const rule = (path: string, access: 'none' | 'read') =>
    ({ path: realpathSync(path), access, source: 'user' }) as const;
  return {
    policy: {
      ...policy,
      files: [...policy.files, rule(hidden, 'none'), rule(join(hidden, 'again'), 'read')],
    },
    secret,
  };
}

/** What the unconfined command left in sessions of their own. */
function sleepersFor(nap: string): number[] {
  return execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.trim().endsWith(` sleep ${nap}`))
    .map((line) => Number.parseInt(line, 10));
}
