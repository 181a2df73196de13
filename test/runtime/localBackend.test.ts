import assert from 'node:assert/strict';
import type { ExecEvent } from '../../src/runtime/exec/execBackend.ts';
import type { LocalStartParams } from '../../src/runtime/exec/localBackend.ts';
import { createLocalBackend } from '../../src/runtime/exec/localBackend.ts';
import type { TemporaryFolder } from '../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import { createTestSandbox, testPolicy } from '../harness/testRuntime.ts';

const tty = { columns: 80, rows: 24 };

for (const mode of ['danger-full-access', 'workspace-write'] as const) {
  describe(`A process of this machine in ${mode}`, () => {
    let folder: TemporaryFolder;
    before(async () => void (folder = await createTemporaryFolder('local')));
    after(() => folder.dispose());

    async function start(argv: readonly string[], extra: Partial<LocalStartParams> = {}) {
      const backend = createLocalBackend(createTestSandbox(), {
        parent: { PATH: '/usr/bin:/bin', HOME: '/root', MY_TOKEN: 'hush', LD_PRELOAD: '/x', LANG: 'C.UTF-8' },
        inFront: '/in/front',
      });
      const started = await backend.start({
        argv,
        cwd: folder.path,
        env: { PATH: '/usr/bin:/bin' },
        policy: testPolicy(folder.path, { mode }),
        ...extra,
      });
      assert.ok(started.ok, started.ok ? '' : started.error.message);
      const events: ExecEvent[] = [];
      started.value.onEvent((event) => events.push(event));
      return { child: started.value, output: () => outputOf(events) };
    }

    it('sees another name, whether it is found on the search path or not', async () => {
      for (const program of ['/bin/sh', 'sh']) {
        const { child, output } = await start([program, '-c', 'echo "$0"'], { arg0: '/another/name' });
        await child.closed;
        assert.equal(output().toString(), '/another/name\n');
      }
      for (const arg0 of ['', '--', '-sh', '--limit']) {
        const { child, output } = await start(['/bin/sh', '-c', 'echo "<$0>"'], { arg0, tty });
        await child.closed;
        assert.equal(output().toString(), `<${arg0}>\r\n`);
      }
    });

    it('inherits what the policy lets through when asked, with its own on top', async () => {
      const { child, output } = await start(['/usr/bin/env'], {
        env: { MINE: 'yes', LD_AUDIT: '/x' },
        inheritsEnvironment: true,
      });
      await child.closed;
      const text = output().toString();
      assert.match(text, /^MINE=yes$/m);
      assert.match(text, /^PATH=\/in\/front:\/usr\/bin:\/bin$/m);
      assert.doesNotMatch(text, /hush|LD_/);
    });

    it('waits while it is paused, and then nothing is lost', async () => {
      for (const extra of [{}, { tty }]) {
        const total = 5_000_000;
        const { child, output } = await start(
          ['/bin/sh', '-c', `head -c ${total} /dev/zero; printf END`],
          extra,
        );
        child.pause();
        await new Promise((resolve) => setTimeout(resolve, 300));
        assert.equal(child.exit, undefined);
        assert.ok(output().length < 1_000_000, `${output().length} bytes came`);
        child.resume();
        await child.closed;
        assert.equal(output().length, total + 3);
      }
    });

    // What is left in a sandbox ends with its command.
    const itLeaves = mode === 'danger-full-access' ? it : it.skip;
    itLeaves('is closed only when all of its output is there, or when it is killed', async () => {
      const background = '(sleep 3; echo late) & echo early';
      const patient = await start(['/bin/sh', '-c', background], { drainsFully: true });
      await patient.child.closed;
      assert.equal(patient.output().toString(), 'early\nlate\n');
      const killed = await start(['/bin/sh', '-c', 'sleep 1000 & echo early'], { drainsFully: true });
      await new Promise<void>((resolve) => {
        killed.child.onEvent(({ kind }) => kind === 'exited' && resolve());
      });
      killed.child.kill();
      await killed.child.closed;
      assert.equal(killed.output().toString(), 'early\n');
    });
  });
}

function outputOf(events: readonly ExecEvent[]): Buffer {
  return Buffer.concat(events.flatMap((event) => (event.kind === 'output' ? [event.chunk] : [])));
}
