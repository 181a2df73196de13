import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { silentLog } from '../../src/base/log.ts';
import type { ExecProcess } from '../../src/runtime/exec/execBackend.ts';
import { createLocalBackend } from '../../src/runtime/exec/localBackend.ts';
import { createSandboxManager } from '../../src/sandbox/createSandboxManager.ts';
import { ownerArguments } from '../../src/sandbox/linux/ownerArguments.ts';
import { Spawner } from '../../src/terminal/spawner.ts';
import { assertEnded, descendantsOf, processesWithEnvironment } from '../harness/processes.ts';
import type { TemporaryFolder } from '../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import { helperPath, testPolicy } from '../harness/testRuntime.ts';
import { waitFor } from '../harness/waitFor.ts';

const project = join(import.meta.dirname, '../..');
const size = { columns: 80, rows: 24 };
const missing = '/nonexistent/companion';
/**
 * Leaves a daemon: a process of its own session whose parent has ended; it ends when it is told to. Goes on when the
 * daemon has left the session of the terminal, whose end would take it along before that.
 */
const leavesDaemon =
  "read -r < <(setsid sh -c 'echo; exec sleep 1000 >/dev/null' </dev/null 2>/dev/null); echo ready;";
const owner = ownerArguments(helperPath) as [string, ...string[]];
const isRoot = process.getuid?.() === 0;

describe('A command without a sandbox', function () {
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  let folder: TemporaryFolder;
  before(async () => void (folder = await createTemporaryFolder('owned')));
  after(() => folder.dispose());

  let count = 0;
  /** Starts a script; what it starts is found by the mark. */
  async function start(script: string, isTty: boolean, companion = helperPath) {
    const mark = `${process.pid}-${(count += 1)}`;
    const sandbox = createSandboxManager({
      platform: process.platform,
      helperPath: companion,
      searchPath: '',
      log: silentLog,
      untrustedFolders: () => [],
    });
    const started = await createLocalBackend(sandbox).start({
      argv: ['/bin/bash', '--norc', '-c', script],
      cwd: folder.path,
      env: { PATH: '/usr/bin:/bin', CORDON_MARK: mark },
      policy: testPolicy(folder.path, { mode: 'danger-full-access' }),
      ...(isTty && { tty: size }),
    });
    assert.ok(started.ok, started.ok ? '' : started.error.message);
    const child = started.value;
    let output = '';
    child.onEvent((event) => {
      if (event.kind === 'output') output += Buffer.from(event.chunk).toString('latin1');
    });
    const marked = () => processesWithEnvironment('CORDON_MARK', mark);
    return { child, marked, output: () => output };
  }

  /** The same in a runtime of its own, which is a process that can be killed. */
  async function startInRuntime(script: string, isTty: boolean, companion = helperPath) {
    const mark = `${process.pid}-${(count += 1)}`;
    const module = `
      import { createLocalBackend } from '${project}/src/runtime/exec/localBackend.ts';
      import { createSandboxManager } from '${project}/src/sandbox/createSandboxManager.ts';
      import { testPolicy } from '${project}/test/harness/testRuntime.ts';
      const log = { debug() {}, info() {}, warn() {}, error() {} };
      const sandbox = createSandboxManager({
        platform: 'linux', helperPath: '${companion}', searchPath: '', log, untrustedFolders: () => [],
      });
      const started = await createLocalBackend(sandbox).start({
        argv: ['/bin/bash', '--norc', '-c', ${JSON.stringify(script)}],
        cwd: '${folder.path}',
        env: { PATH: '/usr/bin:/bin', CORDON_MARK: '${mark}' },
        policy: testPolicy('${folder.path}', { mode: 'danger-full-access' }),
        ...(${isTty} && { tty: { columns: 80, rows: 24 } }),
      });
      started.value.onEvent((event) => event.kind === 'output' && process.stdout.write(event.chunk));`;
    const runtime = spawn(process.execPath, ['--input-type=module', '--eval', module], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const marked = () => processesWithEnvironment('CORDON_MARK', mark);
    await waitFor('the daemon and its command', () => sleeps(marked()).length === 2);
    return { runtime, marked };
  }

  describe('that has ended', () => {
    const tellsGroup = 'read -r _ _ _ _ group _ < /proc/$$/stat; echo $group';
    const left = 'sleep 1000 > /dev/null 2>&1 & exit 0';

    it('takes along what it has left when it is terminated', async () => {
      const { child, marked } = await start(left, false);
      await child.closed;
      const [sleep] = marked();
      assert.ok(sleep !== undefined);
      await child.terminate();
      await assertEnded([sleep]);
    });

    it('is not taken for a process that has its number now', async function () {
      if (!mayChooseNumbers()) this.skip();
      const { child, output } = await start(tellsGroup, false);
      await child.closed;
      const group = Number(output());
      const stranger = processWithNumber(group);
      await child.terminate();
      await new Promise((resolve) => setTimeout(resolve, 100));
      assert.deepEqual([stranger.exitCode, stranger.signalCode], [null, null]);
      stranger.kill('SIGKILL');
    });
  });

  const lastNumber = '/proc/sys/kernel/ns_last_pid';

  /** A container may not, whoever runs in it. */
  function mayChooseNumbers(): boolean {
    try {
      writeFileSync(lastNumber, readFileSync(lastNumber));
      return true;
    } catch {
      return false;
    }
  }

  /** In a group of its own. */
  function processWithNumber(number: number): ChildProcess {
    for (let attempt = 0; attempt < 100; attempt += 1) {
      writeFileSync(lastNumber, String(number - 1));
      const child = spawn('/bin/sleep', ['1000'], { detached: true, stdio: 'ignore' });
      if (child.pid === number) {
        return child;
      }
      child.kill('SIGKILL');
    }
    assert.fail(`others were always faster to be ${number}`);
  }

  const sleeps = (processes: ReturnType<typeof descendantsOf>) =>
    processes.filter(({ command }) => command.startsWith('sleep'));

  for (const [kind, isTty] of [
    ['pipes', false],
    ['a terminal', true],
  ] as const) {
    describe(`on ${kind}`, () => {
      it('ends with the runtime, its daemons included', async () => {
        const { runtime, marked } = await startInRuntime(`${leavesDaemon} nohup sleep 1000`, isTty);
        const started = [...marked(), ...descendantsOf(runtime.pid as number)];
        runtime.kill('SIGKILL');
        await assertEnded(started);
        // Negative control.
        const bare = await startInRuntime(`${leavesDaemon} nohup sleep 1000`, isTty, missing);
        const exited = new Promise((resolve) => bare.runtime.once('exit', resolve));
        bare.runtime.kill('SIGKILL');
        await exited;
        await assert.rejects(assertEnded(sleeps(bare.marked()), 500), /sleep 1000/);
      });

      for (const victim of ['launcher', 'warden'] as const) {
        it(`ends with its ${victim}`, async () => {
          const { child, marked } = await start(`${leavesDaemon} sleep 1000`, isTty);
          await waitFor('both', () => sleeps(marked()).length === 2);
          const started = marked();
          const owners = started.filter(({ command }) => command.includes('--own'));
          const launcher = owners.find(({ parent }) => !owners.some(({ pid }) => pid === parent));
          const warden = owners.find(({ parent }) => parent === launcher?.pid);
          process.kill((victim === 'launcher' ? launcher : warden)?.pid as number, 'SIGKILL');
          await child.closed;
          assert.equal(child.exit?.exitCode, 137);
          await assertEnded(started);
        });
      }

      if (!isTty) {
        it('ends with the spawner that started it, its daemons included, at any moment', async function () {
          this.timeout(120_000);
          for (let round = 0; round < 60; round += 1) {
            const spawner = new Spawner(helperPath);
            assert.ok(await spawner.isUsable());
            const mark = `${process.pid}-spawner-${round}`;
            const child = await spawner.start({
              argv: [...owner, '/bin/bash', '--norc', '-c', `${leavesDaemon} sleep 1000`],
              ...{ cwd: folder.path, env: { PATH: '/usr/bin:/bin', CORDON_MARK: mark }, pipeStdin: false },
            });
            // A sleep on purpose: the moment is what is tried.
            await new Promise((resolve) => setTimeout(resolve, round % 20));
            const started = processesWithEnvironment('CORDON_MARK', mark);
            process.kill(spawner.pid as number, 'SIGKILL');
            assert.equal((await child.exited).exitCode, 137);
            await assertEnded(started);
            await waitFor('all of them', () => processesWithEnvironment('CORDON_MARK', mark).length === 0);
          }
        });
      }

      it('leaves its daemons to the machine when it ends by itself', async () => {
        const { child, marked } = await start(`${leavesDaemon} exit 3`, isTty);
        await child.closed;
        assert.equal(child.exit?.exitCode, 3);
        await waitFor('the daemon alone', () => marked().length === 1 && sleeps(marked()).length === 1);
        const left = marked();
        await child.terminate();
        await assert.rejects(assertEnded(left, 200), /sleep 1000/);
      });

      for (const [manner, reaction] of [
        ['obeys', ''],
        ['ignores', "trap '' TERM;"],
      ] as const) {
        it(`leaves nothing when it is told to end and ${manner} that`, async () => {
          const { child, marked } = await start(`${reaction} ${leavesDaemon} sleep 1000`, isTty);
          await waitFor('both', () => sleeps(marked()).length === 2);
          const started = marked();
          await child.terminate(200);
          await assertEnded(started);
        });
      }

      it('leaves nothing when launcher and command are killed at once', async function () {
        this.timeout(120_000);
        // Whether the command's end or the launcher's is seen first is a matter of luck.
        for (let round = 0; round < 5; round += 1) {
          const all = await Promise.all(
            Array.from({ length: 6 }, () => start(`${leavesDaemon} sleep 1000`, isTty)),
          );
          await waitFor('all', () => all.every(({ marked }) => sleeps(marked()).length === 2));
          const started = all.flatMap(({ marked }) => marked());
          all.forEach(({ child }) => child.kill());
          await assertEnded(started);
        }
      });

      it('has the terminal, group, signals, limits and rights that it has without a companion', async () => {
        const script = `
          grep -E '^(NoNewPrivs|Cap|Sig(Blk|Ign)|Seccomp)' /proc/self/status; ulimit -aS; ulimit -aH; umask; pwd
          ps -o tpgid= -o pgid= -p $$ | awk '{ print $1 == -1, $1 == $2 }'
          tty; kill -TSTP 0; echo went on; (exec 3<>/dev/tty) 2>&1 | sed 's/.*line.*: //'`;
        const told = async (companion?: string): Promise<string> => {
          const { child, output } = await start(script, isTty, companion);
          await child.closed;
          return output().replace(/pts\/\d+/, 'pts/N');
        };
        const bare = await told(missing);
        assert.match(bare, /went on/);
        assert.equal(await told(), bare);
      });

      it('has no descriptors but its streams, whatever this program was started with', async () => {
        // The last one is what the shell reads the folder by.
        const { child, output } = await start('cd /proc/$$/fd; echo *', isTty);
        await child.closed;
        assert.equal(output().trim(), '0 1 2 3');
      });

      it('ends as it ends without a companion', async () => {
        for (const script of [
          'exit 200',
          'kill -TERM $$',
          'kill -KILL $$',
          'kill -SEGV $$',
          'kill -PIPE 0',
        ]) {
          const exits: ExecProcess['exit'][] = [];
          for (const companion of [helperPath, missing]) {
            const { child } = await start(script, isTty, companion);
            await child.closed;
            exits.push(child.exit);
          }
          assert.deepEqual(exits[0], exits[1], script);
        }
      });
    });
  }

  it('may be a shell with job control, which ends when it is told to', async () => {
    const { child, marked, output } = await start('exec bash --norc -i', true);
    child.write(Buffer.from('sleep 1000\r'));
    await waitFor('the job', () => sleeps(marked()).length === 1);
    child.write(Buffer.from('\x1a'));
    await waitFor('the stop', () => /Stopped/.test(output()));
    child.write(Buffer.from('bg\r(setsid sleep 1000 &)\r'));
    await waitFor('the daemon', () => sleeps(marked()).length === 2);
    const started = marked();
    await child.terminate(200);
    await assertEnded(started);
  });

  it('runs setuid programs with their rights', function () {
    if (!isRoot) this.skip();
    chmodSync(folder.path, 0o755);
    const [companion, id] = ['launch', 'id'].map((name) => join(folder.path, name)) as [string, string];
    copyFileSync(helperPath, companion);
    copyFileSync('/usr/bin/id', id);
    chmodSync(companion, 0o755);
    chmodSync(id, 0o4755);
    const run = (...before: readonly string[]): string => {
      const argv = [...before, companion, '--own', String(process.pid), '--', id, '-u'];
      const { stdout, stderr } = spawnSync(argv[0] as string, argv.slice(1), {
        ...{ uid: 65534, gid: 65534, cwd: '/', encoding: 'utf8' as const },
      });
      return stdout + stderr;
    };
    assert.equal(run(), '0\n');
    // Negative control.
    assert.equal(run('setpriv', '--no-new-privs'), '65534\n');
  });
});
