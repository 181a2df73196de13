import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { silentLog } from '../../src/base/log.ts';
import type { LocalStartParams } from '../../src/runtime/exec/localBackend.ts';
import { createLocalBackend } from '../../src/runtime/exec/localBackend.ts';
import { createSandboxManager } from '../../src/sandbox/createSandboxManager.ts';
import type { ChildHandle } from '../../src/terminal/childHandle.ts';
import { startPipeChild } from '../../src/terminal/pipeChild.ts';
import { Spawners } from '../../src/terminal/spawners.ts';
import { assertEnded, descendantsOf } from '../harness/processes.ts';
import type { TemporaryFolder } from '../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import { helperPath, testPolicy } from '../harness/testRuntime.ts';
import { cannotRunUnprivileged, runUnprivileged } from '../harness/unprivileged.ts';
import { waitFor } from '../harness/waitFor.ts';

const env = { PATH: '/usr/bin:/bin' };
const hasLandlock = (spawnSync(helperPath, ['--landlock-version']).status ?? 0) >= 6;

describe('The pipes of a command', function () {
  this.timeout(120_000);
  before(function () {
    if (process.platform !== 'linux') this.skip();
  });

  const descriptorsOfChild = () =>
    spawnSync('/bin/ls', ['/proc/self/fd'], { stdio: ['ignore', 'pipe', 'ignore'] }).stdout.toString();
  let atFirst = '';
  before(() => void (atFirst = descriptorsOfChild()));

  let folder: TemporaryFolder;
  before(async () => void (folder = await createTemporaryFolder('pipes')));
  after(() => folder.dispose());

  const backendWith = (searchPath: string, companion = helperPath) =>
    createLocalBackend(
      createSandboxManager({
        platform: process.platform,
        helperPath: companion,
        searchPath,
        log: silentLog,
        untrustedFolders: () => [],
      }),
    );

  for (const [name, mode, sandbox, searchPath] of [
    ['without a sandbox', 'danger-full-access', 'none', ''],
    ['under bubblewrap', 'workspace-write', 'bubblewrap', process.env['PATH'] ?? ''],
    ['under Landlock', 'read-only', 'landlock', '/nonexistent'],
  ] as const) {
    describe(name, () => {
      before(function () {
        if (sandbox === 'landlock' && !hasLandlock) this.skip();
      });

      async function run(script: string, input?: string, companion?: string) {
        const params: LocalStartParams = {
          argv: ['/bin/bash', '--norc', '-c', script],
          cwd: folder.path,
          env,
          policy: testPolicy(folder.path, { mode }),
          pipeStdin: input !== undefined,
        };
        const started = await backendWith(searchPath, companion).start(params);
        assert.ok(started.ok, started.ok ? '' : started.error.message);
        const child = started.value;
        assert.equal(child.sandbox, sandbox);
        const text = { stdout: '', stderr: '', pty: '' };
        child.onEvent((event) => {
          if (event.kind === 'output') text[event.stream] += Buffer.from(event.chunk).toString();
        });
        if (input !== undefined) {
          child.write(Buffer.from(input));
          child.endInput();
        }
        await child.closed;
        return { ...text, exitCode: child.exit?.exitCode };
      }

      it('can be opened as /dev/stdin, /dev/stdout and /dev/stderr', async () => {
        assert.equal((await run('echo x > /dev/stdout')).stdout, 'x\n');
        const teed = await run('echo y | tee /dev/stderr');
        assert.deepEqual([teed.stdout, teed.stderr], ['y\n', 'y\n']);
        assert.equal((await run('cat /dev/stdin', 'z\n')).stdout, 'z\n');
      });

      it('are no sockets, for which bash would read the start-up file of a person', async () => {
        const { stdout } = await run('stat -L -c %F /dev/fd/0 /dev/fd/1 /dev/fd/2', '');
        assert.equal(stdout, 'fifo\nfifo\nfifo\n');
      });

      it('end a program that writes what nobody reads', async () => {
        assert.equal((await run('yes | head -1; echo "${PIPESTATUS[@]}"')).stdout, 'y\n141 0\n');
      });

      it('bring everything that was written before the end', async () => {
        for (let round = 0; round < 10; round += 1) {
          const { stdout, stderr, exitCode } = await run('seq 1 20000; seq 1 20000 >&2; exit 7');
          assert.deepEqual([stdout, stderr, exitCode], [numbers(20_000), numbers(20_000), 7]);
        }
      });

      it('bring all of the input, and its end', async () => {
        const input = numbers(200_000);
        assert.equal((await run('cat', input)).stdout, input);
      });

      it('may be left by a command that does not want all of its input', async () => {
        assert.equal((await run('head -1', numbers(200_000))).stdout, '1\n');
        assert.equal((await run('exec <&-; echo closed', numbers(200_000))).stdout, 'closed\n');
      });

      if (sandbox === 'none') {
        it('are sockets where the companion cannot be used', async () => {
          const script = '(echo x > /dev/stdout) 2>/dev/null || echo refused';
          for (const companion of ['/nonexistent/companion', '/bin/false', '/bin/cat']) {
            const child = await startPipeChild({
              ...{ argv: ['/bin/sh', '-c', script], cwd: '/', env, pipeStdin: true },
              spawners: new Spawners(companion),
            });
            assert.equal(await outputOf(child), 'refused\n');
          }
          const { stdout } = await run(`exec sh -c '${script}'`, undefined, '/nonexistent/companion');
          assert.equal(stdout, 'refused\n');
        });
      }
    });
  }

  it('are those of an ordinary user, too', function () {
    if (cannotRunUnprivileged !== undefined) this.skip();
    const told = runUnprivileged(`
      import { startPipeChild } from './src/terminal/pipeChild.ts';
      import { Spawners } from './src/terminal/spawners.ts';
      const child = await startPipeChild({
        argv: ['/bin/sh', '-c', 'echo x > /dev/stdout'], cwd: '/', env: { PATH: '/usr/bin:/bin' }, pipeStdin: false,
        spawners: new Spawners('${helperPath}'),
      });
      let output = '';
      child.onOutput(({ chunk }) => (output += Buffer.from(chunk)));
      child.onDrained(() => console.log(JSON.stringify(output)));`);
    assert.equal(told, 'x\n');
  });

  describe('in this process', () => {
    const spawners = new Spawners(helperPath);
    const start = (script: string) =>
      startPipeChild({
        ...{ argv: ['/bin/sh', '-c', script], cwd: '/', env, pipeStdin: false },
        ...{ spawners, drainsFully: true },
      });

    it('go to no other child', async () => {
      const other = await start('sleep 1000');
      try {
        assert.equal(descriptorsOfChild(), atFirst);
      } finally {
        process.kill(-other.pid, 'SIGKILL');
      }
    });

    it('are held by what a command leaves in the background, and by nobody else', async () => {
      const child = await start('(sleep 0.5; echo late) & exit 0');
      const exited = new Promise<void>((resolve) => child.onExit(() => resolve()));
      const output = outputOf(child);
      await exited;
      assert.equal(await output, 'late\n');
      // Its reader is this process alone: when that goes, the writer ends.
      const writer = await start('yes & exit 0');
      await waitFor(
        'the end of the shell',
        () => new Promise((resolve) => writer.onExit(() => resolve(true))),
      );
      const left = descendantsOf(1).filter(({ group }) => group === writer.pid);
      const drained = outputOf(writer);
      writer.endDrain();
      await drained;
      await assertEnded(left);
    });
  });
});

async function outputOf(child: ChildHandle): Promise<string> {
  let output = '';
  child.onOutput(({ chunk }) => (output += Buffer.from(chunk).toString()));
  await new Promise<void>((resolve) => child.onDrained(() => resolve()));
  return output;
}

function numbers(count: number): string {
  return Array.from({ length: count }, (_, index) => `${index + 1}\n`).join('');
}
