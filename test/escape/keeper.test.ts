import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  rmdirSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPtyChild } from '../../src/terminal/ptyChild.ts';
import { Spawner } from '../../src/terminal/spawner.ts';
import type { ProcessEntry } from '../harness/processes.ts';
import { assertEnded, listProcesses, processesWithEnvironment } from '../harness/processes.ts';
import { Random } from '../harness/random.ts';
import { helperPath } from '../harness/testRuntime.ts';
import { waitFor } from '../harness/waitFor.ts';
import type { Edit, Outcome } from './harness.ts';
import {
  Arena,
  all,
  arenaOf,
  finished,
  isRoot,
  removing,
  replacing,
  replacingMount,
  start,
} from './harness.ts';

const path = process.env['PATH'] ?? '';

describe('A run leaves nothing behind', function () {
  let runtime: string;
  let leases: string;
  let arena: Arena;
  before(function () {
    if (process.platform !== 'linux') this.skip();
    runtime = realpathSync(mkdtempSync(join(tmpdir(), 'keeper-')));
    leases = join(runtime, 'cordon/leases');
    arena = new Arena({}, { environment: { XDG_RUNTIME_DIR: runtime } });
  });
  after(() => {
    arena?.dispose();
    if (runtime !== undefined) rmSync(runtime, { recursive: true });
  });

  const keepers = (): readonly ProcessEntry[] =>
    listProcesses().filter(({ command }) => command.includes(leases));
  const isClean = (): boolean =>
    keepers().length === 0 && readdirSync(leases).length === 0 && readdirSync(arena.root).length === 0;
  const isLeft = (): unknown => [keepers(), readdirSync(leases), readdirSync(arena.root)];
  const childOf = (pid: number | undefined): number | undefined => {
    try {
      const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
      return Number(text.split(' ')[0]) || undefined;
    } catch {
      return undefined;
    }
  };
  const kill = (pid: number | undefined, signal: NodeJS.Signals): void => {
    try {
      if (pid !== undefined) process.kill(pid, signal);
    } catch {
      // It was faster.
    }
  };

  // The runtime is played by a shell: it starts the launcher in a session of its own, as Cordon does, and waits.
  const runtimeScript = 'helper=$1; shift 4; setsid "$helper" --outer --runtime $$ "$@"; :';
  const victims = ['the runtime', 'the launcher', 'process 1', 'the command', 'the keeper'] as const;
  const victimOf = (runtimePid: number | undefined, victim: (typeof victims)[number]): number | undefined => {
    const launcher = childOf(runtimePid);
    switch (victim) {
      case 'the runtime':
        return runtimePid;
      case 'the launcher':
        return launcher;
      case 'process 1':
        return childOf(launcher);
      case 'the command':
        return childOf(childOf(launcher));
      case 'the keeper':
        return keepers().find(({ pid }) => pid !== runtimePid && pid !== launcher)?.pid;
    }
  };

  it('when anything is killed at any moment, 200 times, several runs at once', async () => {
    const random = new Random(12);
    const mark = `${process.pid}-random`;
    const env = { PATH: path, CORDON_MARK: mark };
    const script = 'setsid sleep 1000 & trap "" TERM; while :; do mkdir .git/x 2>/dev/null && exit 9; done';
    const { argv } = await arena.launch(['/bin/sh', '-c', script], { env });
    for (let round = 0; round < 50; round += 1) {
      const runs = Array.from({ length: 4 }, async () => {
        const child = spawn('/bin/sh', ['-c', runtimeScript, 'sh', ...argv], {
          env,
          cwd: arena.root,
          stdio: 'ignore',
        });
        const ended = new Promise((resolve) => child.once('exit', resolve));
        // A sleep on purpose: the moment is what is tried.
        await new Promise((resolve) => setTimeout(resolve, random.next() * 60));
        const victim = random.pick(victims.slice(0, 4));
        kill(victimOf(child.pid, victim), random.chance(0.7) ? 'SIGKILL' : 'SIGTERM');
        // What had not come to be yet, or ignores TERM, goes with the runtime.
        await new Promise((resolve) => setTimeout(resolve, random.next() * 10));
        kill(child.pid, 'SIGKILL');
        await ended;
      });
      await Promise.all(runs);
    }
    await assertEnded(processesWithEnvironment('CORDON_MARK', mark));
    await waitFor('the keepers', isClean, { describe: isLeft });
  });

  it('when the spawner is killed at any moment, as it starts several runs', async () => {
    const random = new Random(13);
    const mark = `${process.pid}-spawner`;
    const { argv, cwd } = await arena.launch([
      '/bin/sh',
      '-c',
      'setsid sleep 1000 & trap "" TERM; sleep 1000',
    ]);
    const env = { PATH: path, CORDON_MARK: mark };
    let runsStarted = 0;
    for (let round = 0; round < 40; round += 1) {
      const spawner = new Spawner(helperPath);
      assert.ok(await spawner.isUsable());
      const runs = Array.from({ length: 4 }, async () => {
        const child = await spawner.start({
          ...{ argv: argv as [string, ...string[]], cwd, env, pipeStdin: false },
        });
        runsStarted += 1;
        assert.deepEqual(await child.exited, { exitCode: 137, signal: 'SIGKILL' });
      });
      // A sleep on purpose: the moment is what is tried.
      await new Promise((resolve) => setTimeout(resolve, random.next() * 40));
      kill(spawner.pid, 'SIGKILL');
      for (const outcome of await Promise.allSettled(runs)) {
        assert.match(outcome.status === 'fulfilled' ? '' : String(outcome.reason), /^$|was ended/);
      }
    }
    assert.ok(runsStarted > 0);
    await assertEnded(processesWithEnvironment('CORDON_MARK', mark));
    await waitFor('the keepers', isClean, { describe: isLeft });
  });

  it('under a pseudoterminal, too', async () => {
    const mark = `${process.pid}-terminal`;
    const env = { PATH: path, CORDON_MARK: mark };
    const launch = await arena.launch(['/bin/sh', '-c', 'sleep 1000 & sleep 1000'], { env, tty: true });
    const size = { columns: 80, rows: 24 };
    for (const victim of ['the launcher', 'process 1', 'the command'] as const) {
      const { argv, cwd } = launch;
      const child = await startPtyChild({ argv: argv as [string, ...string[]], cwd, env: launch.env, size });
      const exited = new Promise<void>((resolve) => child.onDrained(() => resolve()));
      await waitFor('the command', () => childOf(childOf(childOf(child.pid))) !== undefined);
      const started = processesWithEnvironment('CORDON_MARK', mark);
      kill(
        victim === 'the launcher'
          ? child.pid
          : victim === 'process 1'
            ? childOf(child.pid)
            : childOf(childOf(child.pid)),
        'SIGKILL',
      );
      await exited;
      await assertEnded(started);
    }
    await waitFor('the keepers', isClean, { describe: isLeft });
  });

  it('and ends with its keeper, whose leases the next start sweeps', async () => {
    const launch = await arena.launch(['sleep', '1000']);
    const child = start(launch.argv, launch.cwd, launch.env);
    const outcome = finished(child);
    await waitFor('the command', () => childOf(childOf(child.pid)) !== undefined);
    const keeper = keepers().find(({ pid, parent }) => pid !== child.pid && parent !== child.pid);
    kill(keeper?.pid, 'SIGKILL');
    const { exitCode, stderr } = await outcome;
    assert.equal(exitCode, 137);
    assert.match(stderr, /guards its sandbox has ended/);
    assert.ok(existsSync(join(arena.root, '.git')));
    const later = new Arena({}, { environment: { XDG_RUNTIME_DIR: runtime } });
    assert.ok((await later.manager.check()).launcherFor(later.policy()).ok);
    later.dispose();
    assert.ok(isClean(), JSON.stringify(isLeft()));
  });

  it('but what a person made meanwhile', async () => {
    const script = 'echo started; until test -e go; do sleep 0.01; done; ls -A .git; mkdir .git/x';
    const launch = await arena.launch(['/bin/sh', '-c', script]);
    const child = start(launch.argv, launch.cwd, launch.env);
    const outcome = finished(child);
    await new Promise((resolve) => child.stdout?.once('data', resolve));
    mkdirSync(join(arena.root, '.git/objects'));
    writeFileSync(join(arena.root, 'go'), '');
    assert.match((await outcome).stderr, /Read-only file system/);
    await launch.release();
    assert.deepEqual(readdirSync(arena.root).sort(), ['.git', 'go']);
    rmSync(join(arena.root, '.git'), { recursive: true });
    rmSync(join(arena.root, 'go'));
  });

  it('and nothing runs when a person made a protected name while it was set up', async () => {
    const launch = await arena.launch(['/bin/sh', '-c', 'echo ran']);
    mkdirSync(join(arena.root, '.codex'));
    const outcome = await finished(start(launch.argv, launch.cwd, launch.env));
    assert.equal(outcome.exitCode, 125);
    assert.match(outcome.stderr, /\.codex came to be/);
    await launch.release();
    assert.deepEqual(readdirSync(arena.root), ['.codex']);
    rmdirSync(join(arena.root, '.codex'));
    assert.ok(isClean(), JSON.stringify(isLeft()));
  });
});

for (const uid of isRoot ? [0, 65534] : [process.getuid?.() ?? 0]) {
  describe(`A mask that the machine lifts is put back (user ${uid})`, function () {
    let arena: Arena;
    let secret: string;
    let config: string;
    before(async function () {
      if (process.platform !== 'linux') this.skip();
      arena = await arenaOf(uid, { files: { '**/.env': 'read' } });
      secret = join(arena.root, '.env');
      config = join(arena.root, '.git/config');
    });
    after(() => arena?.dispose());

    const write = (file: string, text: string): void => {
      writeFileSync(file, text);
      chmodSync(file, 0o666);
    };
    const save = (file: string, text: string): void => {
      write(`${file}.new`, text);
      renameSync(`${file}.new`, file);
    };

    const startedAs =
      uid === process.getuid?.() ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];

    /** Shows `.env` as empty, `.git` as writable but for its configuration. */
    const withMasks: Edit = (argv) =>
      all(
        replacingMount(
          join(arena.root, '.git'),
          { path: join(arena.root, '.git'), kind: 'write' },
          { path: config, kind: 'read' },
          { path: secret, kind: 'unreadable' },
        ),
        replacing(['--read', join(arena.root, '.git')], ['--read', config, '--hide', secret]),
      )(argv);

    /** Runs `attack` in the sandbox after `act` was done outside, and, where that is expected, the mask is back. */
    async function during(
      attack: string,
      act: () => void,
      options: { readonly without?: Edit; readonly mask?: string } = {},
    ): Promise<Outcome> {
      mkdirSync(join(arena.root, '.git'), { recursive: true });
      chmodSync(join(arena.root, '.git'), 0o777);
      write(config, 'original\n');
      write(secret, 'hunter1\n');
      rmSync(join(arena.root, 'go'), { force: true });
      const script = `echo started; until test -e go; do sleep 0.01; done; ${attack}`;
      const launch = await arena.launch(['/bin/sh', '-c', script]);
      const argv = all(withMasks, options.without ?? ((words) => words))(launch.argv);
      const child = start([...startedAs, ...argv], launch.cwd, launch.env);
      const outcome = finished(child);
      await new Promise((resolve) => child.stdout?.once('data', resolve));
      act();
      if (options.mask !== undefined) {
        const inside = `/proc/${readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim()}/mountinfo`;
        await waitFor('the mask', () => readFileSync(inside, 'utf8').includes(` ${options.mask} `));
      }
      writeFileSync(join(arena.root, 'go'), '');
      const result = await outcome;
      await launch.release();
      return result;
    }

    it('a hidden file is saved by rename', async () => {
      const act = (): void => save(secret, 'hunter2\n');
      assert.doesNotMatch((await during('cat .env; echo x >> .env', act, { mask: secret })).stdout, /hunter/);
      assert.equal(readFileSync(secret, 'utf8'), 'hunter2\n');
      const without = removing('--hide', secret);
      assert.match((await during('cat .env', act, { without })).stdout, /hunter2/);
    });

    it('a hidden file is removed and made again, as some editors do', async () => {
      const act = (): void => {
        renameSync(secret, `${secret}~`);
        write(secret, 'hunter3\n');
      };
      assert.doesNotMatch((await during('cat .env', act, { mask: secret })).stdout, /hunter/);
      assert.match(
        (await during('cat .env', act, { without: removing('--hide', secret) })).stdout,
        /hunter3/,
      );
    });

    describe('also where the folder of a hidden file', () => {
      const folder = (): string => join(arena.root, 'deep/er');
      const deep = (): string => join(folder(), 'secret');
      /** Hides it as well, in the same way. */
      const hidden: Edit = (argv) =>
        all(
          replacingMount(secret, { path: secret, kind: 'unreadable' }, { path: deep(), kind: 'unreadable' }),
          replacing(['--hide', secret], ['--hide', secret, '--hide', deep()]),
        )(argv);
      const make = (): void => {
        mkdirSync(folder(), { recursive: true });
        write(deep(), 'hunter4\n');
      };
      beforeEach(make);
      const clear = (): void => rmSync(join(arena.root, 'deep'), { recursive: true, force: true });
      afterEach(clear);

      it('is removed, which ends no command', async () => {
        const act = (): void => rmSync(join(arena.root, 'deep'), { recursive: true });
        const outcome = await during('cat deep/er/secret; echo goes on', act, { without: hidden });
        assert.match(outcome.stdout, /goes on/);
        assert.match(outcome.stderr, /No such file/);
      });

      for (const [what, leave] of [
        ['is removed and made again', () => rmSync(join(arena.root, 'deep'), { recursive: true })],
        ['is moved away and made again', () => renameSync(folder(), join(arena.root, 'deep/elsewhere'))],
      ] as const) {
        it(what, async () => {
          const act = (): void => {
            leave();
            make();
          };
          const outcome = await during('cat deep/*/secret', act, { without: hidden, mask: deep() });
          assert.doesNotMatch(outcome.stdout, /hunter/);
          clear();
          make();
          const without = all(hidden, removing('--hide', deep()));
          assert.match((await during('cat deep/er/secret', act, { without })).stdout, /hunter4/);
        });
      }
    });

    it('a read-only file is replaced', async () => {
      const act = (): void => save(config, 'replaced\n');
      const attack = 'cat .git/config; echo evil >> .git/config';
      const outcome = await during(attack, act, { mask: config });
      assert.match(outcome.stdout, /replaced/);
      assert.match(outcome.stderr, /Read-only file system/);
      assert.equal(readFileSync(config, 'utf8'), 'replaced\n');
      await during(attack, act, { without: removing('--read', config) });
      assert.match(readFileSync(config, 'utf8'), /evil/);
    });

    it('a mount point is removed by somebody', async () => {
      const name = join(arena.root, '.codex');
      const attack = 'mkdir .codex/x; mkdir .codex && mkdir .codex/x';
      const outcome = await during(attack, () => rmdirSync(name), { mask: name });
      assert.match(outcome.stderr, /Read-only file system/);
      assert.equal(existsSync(name), false);
    });

    it('and the command is stopped, with the reason, when a read-only file stays away', async () => {
      const outcome = await during('sleep 60; echo evil > .git/config', () => unlinkSync(config));
      assert.equal(outcome.exitCode, 137);
      assert.match(outcome.stderr, /\.git\/config was replaced by another program/);
      assert.equal(existsSync(config), false);
      const without = removing('--read', config);
      await during('echo evil > .git/config', () => rmSync(config, { force: true }), { without });
      assert.equal(existsSync(config), true);
    });
  });
}
