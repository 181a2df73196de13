import assert from 'node:assert/strict';
import type { ExecBackend, ExecEvent, ExecProcess, StartParams } from '../../src/runtime/exec/execBackend.ts';
import type { SandboxMode } from '../../src/sandbox/policy/policy.ts';
import type { ProcessEntry } from './processes.ts';
import { isInSandbox, killAll, listProcesses } from './processes.ts';
import { createTemporaryFolder } from './temporaryFolder.ts';
import type { TemporaryFolder } from './temporaryFolder.ts';
import { testPolicy } from './testRuntime.ts';
import { waitFor } from './waitFor.ts';

const env = { PATH: '/usr/bin:/bin', HOME: '/root', TERM: 'xterm-256color' };
const tty = { columns: 80, rows: 24 };

/** What the protocol has no words for, so that it does not work on the servers of others. */
export interface BackendTraits {
  /** A terminal's size can be chosen and changed. */
  readonly resizes: boolean;
  /** Every signal can be sent, and the exit tells which one ended a process. */
  readonly signals: boolean;
}

/** What is wrong with the servers of others, and does not work there. */
export interface BackendFaults {
  /** A command that is ended while its sandbox starts can go on in there, although it counts as closed. */
  readonly leavesStartedSandboxes?: boolean;
  /** The exit of a command can come before the last of its output, which it has written before. */
  readonly tellsExitEarly?: boolean;
}

/** What every way to run commands does alike. */
export function describeBackend(
  name: string,
  mode: SandboxMode,
  makeBackend: () => ExecBackend | Promise<ExecBackend>,
  { resizes, signals }: BackendTraits = { resizes: true, signals: true },
  { leavesStartedSandboxes = false, tellsExitEarly = false }: BackendFaults = {},
): void {
  describe(`ExecBackend.start() ${name} in ${mode}`, () => {
    let folder: TemporaryFolder;
    let backend: ExecBackend;

    before(async () => {
      folder = await createTemporaryFolder('exec');
      backend = await makeBackend();
    });
    after(() => folder.dispose());

    async function start(script: string, extra: Partial<StartParams> = {}) {
      const started = await backend.start({
        argv: ['/bin/bash', '--norc', '-c', script],
        cwd: folder.path,
        env,
        policy: testPolicy(folder.path, { mode }),
        ...extra,
      });
      assert.ok(started.ok, started.ok ? '' : started.error.message);
      const events: ExecEvent[] = [];
      started.value.onEvent((event) => events.push(event));
      return { child: started.value, events };
    }

    it('numbers every event from 1 without holes and ends with exited and closed', async () => {
      const { child, events } = await start('echo out; echo err >&2; exit 3');
      await child.closed;
      assert.deepEqual(
        events.map(({ seq }) => seq),
        events.map((_, index) => index + 1),
      );
      assert.equal(text(events, 'stdout'), 'out\n');
      assert.equal(text(events, 'stderr'), 'err\n');
      const kinds = events.map(({ kind }) => kind);
      assert.equal(kinds.filter((kind) => kind === 'exited').length, 1);
      assert.deepEqual(kinds.slice(-1), ['closed']);
      if (!tellsExitEarly) {
        assert.deepEqual(kinds.slice(-2, -1), ['exited']);
      }
      assert.equal(child.exit?.exitCode, 3);
    });

    it('gives a terminal when asked, of the size asked for, and follows a resize', async () => {
      const { child, events } = await start('stty size; read x; stty size; tty', { tty });
      await waitFor('the first size', () => text(events, 'pty').includes('24 80'));
      child.resize({ columns: 132, rows: 43 });
      child.write(Buffer.from('\r'));
      await child.closed;
      assert.match(text(events, 'pty'), resizes ? /43 132/ : /24 80[^]*24 80/);
      assert.match(text(events, 'pty'), /\/dev\/(pts\/\d+|console)/);
    });

    it('reports 128 + n when a signal ends the process', async () => {
      for (const extra of signals ? [{}, { tty }] : [{}]) {
        const { child } = await start('kill -USR1 $$', extra);
        await child.closed;
        assert.equal(child.exit?.exitCode, 138);
      }
    });

    it('delivers a signal to the command, whose traps run', async () => {
      for (const extra of [{}, { tty }]) {
        const { child, events } = await start(
          `trap 'echo trapped; exit 7' INT; echo ready; sleep 60 & wait`,
          extra,
        );
        await waitFor('ready', () => text(events).includes('ready'));
        assert.ok(child.signal('SIGINT'));
        await child.closed;
        if (!signals && mode !== 'danger-full-access') {
          // Others' servers end the launcher, and all that is in it.
          assert.notEqual(child.exit?.exitCode, 0);
          continue;
        }
        assert.match(text(events), /trapped/);
        assert.equal(child.exit?.exitCode, 7);
      }
    });

    it('terminates the whole group: TERM first, KILL for what ignores it', async () => {
      const marker = `3${process.pid}.${Date.now() % 1000}`;
      const { child, events } = await start(
        `trap '' TERM INT; (trap '' TERM INT; sleep ${marker}) & echo ready; wait; sleep ${marker}`,
      );
      await waitFor('ready', () => text(events).includes('ready'));
      await child.terminate(200);
      assert.equal(child.exit?.exitCode, 137);
      await waitFor(
        'all of the group to be gone',
        () => !listProcesses().some(({ command }) => command.includes(marker)),
      );
    });

    it('leaves nothing when it is terminated at any moment of its start', async function () {
      this.timeout(120_000);
      const marker = `6${process.pid}.${Date.now() % 1000}`;
      for (let delayMs = 0; delayMs < 60; delayMs += 2) {
        const { child } = await start(`sleep ${marker} & sleep ${marker}`);
        await new Promise((resolve) => setTimeout(resolve, delayMs));
        await child.terminate();
        await child.closed;
        assert.ok(child.exit !== undefined && child.exit.failure === undefined, child.exit?.failure);
      }
      const left = (): readonly ProcessEntry[] =>
        listProcesses().filter(({ command }) => command.includes(marker));
      if (leavesStartedSandboxes) {
        await waitFor('all outside of a sandbox to be gone', () => left().every(isInSandbox));
        killAll(left());
      }
      await waitFor('all of them to be gone', () => left().length === 0);
    });

    it('lets a TERM trap clean up within the grace, where there is one', async () => {
      const { child, events } = await start(`trap 'echo cleaned; exit 0' TERM; echo ready; sleep 60 & wait`);
      await waitFor('ready', () => text(events).includes('ready'));
      await child.terminate();
      assert.equal(text(events).includes('cleaned'), signals);
    });

    it('does not hang on a grandchild that keeps the pipe open', async () => {
      const marker = `7${process.pid}.3`;
      const left = (): readonly ProcessEntry[] =>
        listProcesses().filter(({ command }) => command === `sleep ${marker}`);
      const { child } = await start(`sleep ${marker} & echo done`);
      await child.closed;
      if (mode === 'danger-full-access') {
        assert.ok(left().length > 0, 'closed although the grandchild lives');
      }
      await child.terminate();
      if (!signals) {
        // Others' servers reach nothing of a process that has exited.
        left().forEach(({ pid }) => process.kill(pid));
      }
      await waitFor('the grandchild to be gone', () => left().length === 0);
    });

    it('keeps the newest MiB for readers and tells of the gap', async () => {
      const { child } = await start('head -c 3000000 /dev/zero; echo END');
      await child.closed;
      const read = await child.read({ afterSeq: 0 });
      const bytes = Buffer.concat(read.chunks.map(({ chunk }) => chunk));
      assert.ok(bytes.byteLength <= 1024 * 1024 && bytes.byteLength > 900 * 1024);
      assert.ok(bytes.toString('latin1').endsWith('END\n'));
      assert.equal(read.gap?.fromSeq, 1);
      assert.equal(read.gap?.toSeq, (read.chunks[0]?.seq ?? 0) - 1);
      assert.equal(read.closed, true);
    });

    it('reads in pieces that join to the whole', async () => {
      const { child } = await start('for i in $(seq 1 2000); do echo line $i; done');
      await child.closed;
      let joined = '';
      let afterSeq = 0;
      for (;;) {
        const { chunks, nextSeq } = await child.read({ afterSeq, maxBytes: 500 });
        if (chunks.length === 0) {
          break;
        }
        joined += Buffer.concat(chunks.map(({ chunk }) => chunk)).toString();
        afterSeq = nextSeq - 1;
      }
      assert.equal(joined, Array.from({ length: 2000 }, (_, index) => `line ${index + 1}\n`).join(''));
    });

    it('waits for news when asked to, and answers empty when time is up', async () => {
      const { child } = await start('read line; echo got $line', { pipeStdin: true });
      const empty = await child.read({ afterSeq: 0, waitMs: 50 });
      assert.deepEqual(empty.chunks, []);
      const waiting = child.read({ afterSeq: 0, waitMs: 20_000 });
      assert.equal(child.write(Buffer.from('hello\n')), 'accepted');
      assert.equal(Buffer.from((await waiting).chunks[0]?.chunk ?? []).toString(), 'got hello\n');
      await child.closed;
      assert.equal(child.write(Buffer.from('late')), 'exited');
    });

    it('passes every byte of a large output, in order', async () => {
      const { child, events } = await start('seq 1 1000000');
      await child.closed;
      assert.equal(
        text(events, 'stdout'),
        Array.from({ length: 1_000_000 }, (_, n) => `${n + 1}\n`).join(''),
      );
    });

    it('names what cannot be started', async () => {
      const missing = await backend.start({
        argv: ['true'],
        cwd: `${folder.path}/none`,
        env,
        policy: testPolicy(folder.path, { mode }),
      });
      assert.ok(!missing.ok && missing.error.message.includes(`${folder.path}/none`));
      const { child, events } = await startArgv(['/no/such/program']);
      if (child !== undefined) {
        await child.closed;
        assert.equal(child.exit?.exitCode, signals ? 127 : 101);
        assert.match(text(events), /no\/such\/program/);
      }
    });

    async function startArgv(argv: readonly string[]): Promise<{ child?: ExecProcess; events: ExecEvent[] }> {
      const events: ExecEvent[] = [];
      const started = await backend.start({
        argv,
        cwd: folder.path,
        env,
        policy: testPolicy(folder.path, { mode }),
      });
      if (!started.ok) {
        assert.equal(started.error.kind, 'spawn-not-found');
        assert.equal(mode, 'danger-full-access');
        return { events };
      }
      started.value.onEvent((event) => events.push(event));
      return { child: started.value, events };
    }
  });
}

function text(events: readonly ExecEvent[], stream?: string): string {
  const chunks = events.flatMap((event) =>
    event.kind === 'output' && (stream === undefined || event.stream === stream) ? [event.chunk] : [],
  );
  return Buffer.concat(chunks).toString();
}
