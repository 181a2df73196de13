import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChildExit, ChildHandle } from '../../src/terminal/childHandle.ts';
import { startPipeChild } from '../../src/terminal/pipeChild.ts';
import { Spawners } from '../../src/terminal/spawners.ts';
import { assertEnded, descendantsOf } from '../harness/processes.ts';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import { helperPath } from '../harness/testRuntime.ts';
import { waitFor } from '../harness/waitFor.ts';

const env = { PATH: '/usr/bin:/bin' };

describe('The spawner of a runtime', function () {
  this.timeout(120_000);
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  const spawners = new Spawners(helperPath);
  const startProgram = (
    argv: readonly [string, ...string[]],
    more: { cwd?: string; pipeStdin?: boolean } = {},
  ) =>
    startPipeChild({
      ...{ argv, cwd: '/', env, pipeStdin: false },
      ...more,
      ...{ spawners, drainsFully: true },
    });
  const start = (script: string, pipeStdin = false) => startProgram(['/bin/sh', '-c', script], { pipeStdin });
  // Other tests of this process have others.
  const others = new Set<number>();
  const living = () =>
    descendantsOf(process.pid).filter(
      ({ command, parent, pid }) => command.includes('--spawn') && parent === process.pid && !others.has(pid),
    );
  before(() => living().forEach(({ pid }) => others.add(pid)));

  it('starts 500 commands at once', async () => {
    const outputs = await Promise.all(
      Array.from({ length: 500 }, async (_, index) => outputOf(await start(`echo ${index} > /dev/stdout`))),
    );
    assert.deepEqual(
      outputs,
      outputs.map((_, index) => `${index}\n`),
    );
  });

  it('gives them their folder, their words and their environment, byte for byte, and nothing else', async () => {
    const folder = await createTemporaryFolder('spawner ✓');
    const words = ['', ' ', 'zeile\nzeile', 'ü', '$HOME', '-n'];
    const child = await startPipeChild({
      argv: [
        '/bin/sh',
        '-c',
        'pwd; env | sort; printf "<%s>" "$@"; ls /proc/self/fd | tr "\\n" " "',
        'sh',
        ...words,
      ],
      cwd: folder.path,
      env: { ...env, EMPTY: '', SPACED: 'a b' },
      pipeStdin: false,
      spawners,
    });
    assert.equal(
      await outputOf(child),
      `${folder.path}\nEMPTY=\nPATH=${env.PATH}\nPWD=${folder.path}\nSPACED=a b\n${words.map((word) => `<${word}>`).join('')}0 1 2 3 `,
    );
    await folder.dispose();
  });

  it('leaves them no signal that is ignored or blocked', async () => {
    assert.match(
      await outputOf(await startProgram(['/bin/grep', '^Sig[BI]', '/proc/self/status'])),
      /^SigBlk:\t0+\nSigIgn:\t0+\n$/,
    );
  });

  it('makes each the leader of a session and a group of its own, without a terminal', async () => {
    const child = await startProgram(['/bin/cat', '/proc/self/stat']);
    const [pid, , , , group, session, terminal] = (await outputOf(child)).split(' ').map(Number);
    assert.deepEqual([pid, group, session, terminal], [child.pid, child.pid, child.pid, 0]);
  });

  it('tells how they ended', async () => {
    const ends: readonly [string, ChildExit][] = [
      ['exit 0', { exitCode: 0 }],
      ['exit 200', { exitCode: 200 }],
      ['kill -TERM $$', { exitCode: 143, signal: 'SIGTERM' }],
      ['kill -ABRT $$', { exitCode: 134, signal: 'SIGABRT' }],
      ['kill -64 $$', { exitCode: 192 }],
    ];
    for (const [script, exit] of ends) {
      assert.deepEqual(await exitOf(await start(script)), exit);
    }
  });

  it('tells the end of a short command after its output', async () => {
    for (let round = 0; round < 300; round += 1) {
      const child = await startProgram(['/bin/echo', 'x']);
      const order: string[] = [];
      child.onOutput(() => order.push('output'));
      child.onExit(() => order.push('exit'));
      // News of the start and of the end may come together.
      const busyUntil = performance.now() + (round % 3);
      while (performance.now() < busyUntil);
      await new Promise<void>((resolve) => child.onDrained(resolve));
      assert.deepEqual(order, ['output', 'exit']);
    }
  });

  it('tells nothing of those that are stopped, and all of their end later', async () => {
    const child = await start('kill -STOP $$; exit 4');
    const exit = exitOf(child);
    await waitFor('the stop', () => /^State:\tT/m.test(readFileSync(`/proc/${child.pid}/status`, 'utf8')));
    assert.equal((await outputOf(await start('echo x'))).trim(), 'x');
    process.kill(child.pid, 'SIGCONT');
    assert.deepEqual(await exit, { exitCode: 4 });
  });

  it('says as Node does why a program cannot start, and goes on', async () => {
    await outputOf(await start('exit 0'));
    const before = living().map(({ pid }) => pid);
    const long = 'x'.repeat(200_000);
    const failures: readonly [readonly [string, ...string[]], string, string?][] = [
      [['/nonexistent/program'], 'ENOENT'],
      [['/etc/passwd'], 'EACCES'],
      [['/bin'], 'EACCES'],
      [['/bin/true'], 'ENOENT', '/nonexistent'],
      [['/bin/true'], 'ENOTDIR', '/etc/passwd'],
      [['/bin/true', long], 'E2BIG'],
      [['/bin/true', ...Array.from({ length: 100 }, () => long)], 'E2BIG'],
      [['/bin/true', ...Array.from({ length: 1_100_000 }, () => '')], 'E2BIG'],
    ];
    for (const [argv, code, cwd = '/'] of failures) {
      await assert.rejects(startProgram(argv, { cwd }), { code }, `${argv[0]} ${code}`);
    }
    assert.equal(await outputOf(await start('echo x')), 'x\n');
    assert.deepEqual(
      living().map(({ pid }) => pid),
      before,
    );
  });

  it('says so when it has no memory for a command, and keeps the others', async () => {
    const other = await start('read line; echo "$line"', true);
    const output = outputOf(other);
    const [spawner] = living();
    assert.ok(spawner !== undefined);
    const limit = (bytes: string) =>
      execFileSync('prlimit', [`--pid=${spawner.pid}`, `--as=${bytes}:unlimited`]);
    limit('2000000');
    await assert.rejects(
      startProgram(['/bin/true', ...Array.from({ length: 40 }, () => 'x'.repeat(100_000))]),
      {
        code: 'ENOMEM',
      },
    );
    limit('unlimited');
    other.write(Buffer.from('x\n'));
    assert.equal(await output, 'x\n');
    assert.equal(await outputOf(await start('echo y')), 'y\n');
    assert.equal(living()[0]?.pid, spawner.pid);
  });

  it('takes no word, folder or variable that hides another one behind a NUL', async () => {
    await assert.rejects(startProgram(['/bin/echo', 'x\0y']), /NUL/);
    await assert.rejects(startProgram(['/bin/true'], { cwd: '/\0/bin/echo' }), /NUL/);
    const spec = { argv: ['/bin/true'] as const, cwd: '/', pipeStdin: false, spawners };
    await assert.rejects(startPipeChild({ ...spec, env: { A: '1\0LD_PRELOAD=x' } }), /NUL/);
  });

  it('takes as many words and variables as the system does', async () => {
    const words = Array.from({ length: 100_000 }, (_, index) => String(index));
    const child = await startProgram(['/bin/sh', '-c', 'echo $#', 'sh', ...words]);
    assert.equal(await outputOf(child), '100000\n');
  });

  it('runs a script without a known format, as a shell does', async () => {
    const folder = await createTemporaryFolder('spawner');
    await writeFile(join(folder.path, 'script'), 'echo "ran $1"\n', { mode: 0o755 });
    assert.equal(await outputOf(await startProgram([join(folder.path, 'script'), 'x'])), 'ran x\n');
    await folder.dispose();
  });

  it('gives the number of a command to no other one while somebody reads its output', async () => {
    const child = await start('sleep 1000 & echo $!; exit 0');
    const output = outputOf(child);
    const background = await new Promise<number>((resolve) =>
      child.onOutput(({ chunk }) => resolve(Number(Buffer.from(chunk).toString()))),
    );
    await exitOf(child);
    // Its leader has ended, and the group can still be signalled by its number and nobody else's.
    assert.match(readFileSync(`/proc/${child.pid}/status`, 'utf8'), /^State:\tZ/m);
    process.kill(background, 'SIGKILL');
    await output;
    await waitFor('its number to be free', () => !readdirSync('/proc').includes(String(child.pid)));
  });

  it('leaves no descriptor behind, here or there, however a start ends', async () => {
    await outputOf(await start('true'));
    const open = () => [process.pid, living()[0]?.pid].map((pid) => readdirSync(`/proc/${pid}/fd`).length);
    const atFirst = open();
    for (let round = 0; round < 50; round += 1) {
      await Promise.all(
        Array.from({ length: 20 }, async (_, index) =>
          index === 0
            ? assert.rejects(startProgram(['/nonexistent/program'], { pipeStdin: true }))
            : outputOf(await start('exit 0', index % 2 === 0)),
        ),
      );
    }
    await waitFor('all to be closed', () => open().every((count, at) => count <= (atFirst[at] ?? 0)));
  });

  it('ends a command whose pipes cannot be opened here, and says so', async () => {
    const script = `
      import { openSync } from 'node:fs';
      import { startPipeChild } from './src/terminal/pipeChild.ts';
      import { Spawners } from './src/terminal/spawners.ts';
      const spawners = new Spawners('${helperPath}');
      const start = (script) => startPipeChild({
        argv: ['/bin/sh', '-c', script], cwd: '/', env: { MARK: '$MARK' }, pipeStdin: true, spawners });
      (await start('exit 0')).onDrained(async () => {
        try { for (;;) openSync('/dev/null'); } catch {}
        await start('exec sleep 1000').then(() => console.log('started'), ({ message }) => console.log(message));
        process.exit(0);
      });`;
    const told = await outputOf(
      await startPipeChild({
        argv: [
          '/bin/sh',
          '-c',
          'ulimit -n 64; exec "$0" --input-type=module --eval "$1"',
          process.execPath,
          script,
        ],
        ...{ cwd: `${import.meta.dirname}/../..`, env, pipeStdin: false, spawners },
      }),
    );
    assert.match(told, /EMFILE/);
  });

  it('takes all that it has started with it, and is replaced', async () => {
    const running = await Promise.all(Array.from({ length: 5 }, () => start('echo x; exec sleep 1000')));
    const exits = running.map(exitOf);
    const [spawner] = living();
    assert.ok(spawner !== undefined);
    const started = descendantsOf(spawner.pid);
    assert.equal(started.length, 5);
    process.kill(spawner.pid, 'SIGKILL');
    assert.deepEqual(
      await Promise.all(exits),
      exits.map(() => ({ exitCode: 137, signal: 'SIGKILL' })),
    );
    await assertEnded([spawner, ...started]);
    for (let round = 0; round < 20; round += 1) {
      living().forEach(({ pid }) => process.kill(pid, 'SIGKILL'));
      const outcomes = await Promise.allSettled(
        Array.from({ length: 5 }, async () => exitOf(await start('exit 0'))),
      );
      for (const outcome of outcomes) {
        assert.match(
          outcome.status === 'fulfilled' ? String(outcome.value.exitCode) : String(outcome.reason),
          /^(0|137)$|the process that starts commands was ended/,
        );
      }
    }
    await waitFor(
      'a start on the next one',
      async () => (await exitOf(await start('exit 0'))).exitCode === 0,
    );
    assert.equal(living().length, 1);
  });

  it('ends with its runtime, and all that it has started too; alone it keeps no runtime from ending', async () => {
    const module = `
      import { startPipeChild } from '${import.meta.dirname}/../../src/terminal/pipeChild.ts';
      import { Spawners } from '${import.meta.dirname}/../../src/terminal/spawners.ts';
      const spawners = new Spawners('${helperPath}');
      spawners.prepare();
      const start = (argv) => startPipeChild({ argv, cwd: '/', env: {}, pipeStdin: false, spawners });
      if (process.env.STAYS) {
        await start(['/bin/sh', '-c', 'exec sleep 1000']);
        console.log('started');
      } else if (process.env.RUNS) {
        (await start(['/bin/sleep', '0.3'])).onDrained(() => console.log('drained'));
      }`;
    const runtime = (variables: NodeJS.ProcessEnv) =>
      spawn(process.execPath, ['--input-type=module', '--eval', module], {
        ...{ stdio: ['ignore', 'pipe', 'inherit'] as const, env: { ...process.env, ...variables } },
      });
    const staying = runtime({ STAYS: '1' });
    await new Promise((resolve) => staying.stdout.once('data', resolve));
    const started = descendantsOf(staying.pid as number);
    assert.match(started.map(({ command }) => command).join('\n'), /--spawn[^]*sleep 1000/);
    staying.kill('SIGKILL');
    await assertEnded(started);
    for (const [variables, expected] of [
      [{}, ''],
      [{ RUNS: '1' }, 'drained\n'],
    ] as const) {
      const ending = runtime(variables);
      let said = '';
      ending.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
      assert.equal(await new Promise((resolve) => ending.once('close', resolve)), 0);
      assert.equal(said, expected);
    }
  });

  it('counts as its runtime for launchers, which run nothing for another one', async () => {
    const launchers = (runtime: number): readonly (readonly [string, ...string[]])[] => [
      [helperPath, '--outer', '--runtime', String(runtime), '--', '/bin/echo', 'ran'],
      [helperPath, '--own', String(runtime), '--', '/bin/echo', 'ran'],
    ];
    for (const [runtime, expected] of [
      [process.pid, 'ran\n'],
      [process.ppid, ''],
      [999_999_999, ''],
    ] as const) {
      for (const argv of launchers(runtime)) {
        const child = await startProgram(argv);
        let output = '';
        child.onOutput(
          ({ stream, chunk }) => (output += stream === 'stdout' ? Buffer.from(chunk).toString() : ''),
        );
        const { exitCode } = await exitOf(child);
        assert.deepEqual([output, exitCode], [expected, expected === '' ? 125 : 0], argv.join(' '));
      }
    }
  });

  it('is left alone when the companion is another program or another version', async () => {
    for (const companion of ['/nonexistent/companion', '/bin/false', '/bin/cat', '/bin/echo', '/bin/yes']) {
      const others = new Spawners(companion);
      for (let round = 0; round < 2; round += 1) {
        const child = await startPipeChild({
          ...{ argv: ['/bin/echo', 'x'], cwd: '/', env, pipeStdin: false, spawners: others },
        });
        assert.equal(await outputOf(child), 'x\n');
      }
      assert.deepEqual(
        descendantsOf(process.pid).filter(({ command }) => command.startsWith(companion)),
        [],
      );
    }
  });
});

async function outputOf(child: ChildHandle): Promise<string> {
  let output = '';
  child.onOutput(({ chunk }) => (output += Buffer.from(chunk).toString()));
  await new Promise<void>((resolve) => child.onDrained(() => resolve()));
  return output;
}

async function exitOf(child: ChildHandle): Promise<ChildExit> {
  return new Promise((resolve) => child.onExit(resolve));
}
