import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { neverAsk } from '../../src/runtime/approvals/approvalPolicy.ts';
import { listProcesses } from './processes.ts';
import type { Session } from '../../src/runtime/sessions/session.ts';
import type { CreateTestRuntime, TestRuntime } from './testRuntime.ts';
import { collectGarbage } from './collectGarbage.ts';
import { waitFor } from './waitFor.ts';

/** What the tools for commands do alike, wherever these run; `isCordon` is false for the servers of others. */
export function describeExecTools(
  where: string,
  createTestRuntime: CreateTestRuntime,
  isCordon = true,
): void {
  describe(`exec_command and write_stdin ${where}`, () => {
    /** How long a start may take, in seconds: others' servers need longer for a sandbox. */
    const startS = isCordon ? 1 : 4;
    /** What only Cordon's own servers can do. */
    const cordonIt = isCordon ? it : it.skip;
    let it_: TestRuntime;
    before(async () => {
      it_ = await createTestRuntime();
    });
    after(() => it_.dispose());

    const run = async (cmd: string, input: object = {}) =>
      (await it_.call('exec_command', { cmd, ...input })).text;

    it('answers a finished command in the form of the reference', async () => {
      assert.match(
        await run('echo hello; exit 3'),
        /^Chunk ID: [0-9a-f]{6}\nWall time: \d+\.\d{4} seconds\nProcess exited with code 3\nOriginal token count: 2\nOutput:\nhello\n$/,
      );
    });

    cordonIt('tells what a command left for git to run, in the answer that ends it', async () => {
      const text = await run('git init -q new && git -C new config core.fsmonitor evil');
      assert.match(text, /\nSandbox: .*new\/\.git\/config made git run programs \(core\.fsmonitor\)/);
      assert.doesNotMatch(await run('git init -q other'), /Sandbox:/);
    });

    it('answers a command that goes on with a session, and a poll with the rest', async () => {
      const first = await it_.call('exec_command', {
        cmd: `echo one; sleep ${startS}; echo two`,
        yield_time_ms: startS * 300,
      });
      assert.match(first.text, /Process running with session ID \d{4,5}\n[^]*one\n$/);
      const rest = await it_.call('write_stdin', { session_id: first.sessionId });
      assert.match(rest.text, /Process exited with code 0\n[^]*Output:\ntwo\n$/);
      const forgotten = await it_.call('write_stdin', { session_id: first.sessionId });
      assert.match(forgotten.text, /write_stdin failed: Unknown process id \d+/);
    });

    it('closes stdin without a tty and refuses to type there, but interrupts', async () => {
      assert.match(await run('cat; echo end'), /Output:\nend\n$/);
      const session = await it_.open('sleep 60', { tty: false });
      assert.match(
        await it_.type(session, 'text'),
        /stdin is closed for this session; rerun exec_command with tty=true/,
      );
      assert.match(
        await it_.type(session, '\u0003', { yield_time_ms: 5_000 }),
        /Process exited with code 130/,
      );
    });

    it('cuts output to the budget: head, count of tokens left out, tail', async () => {
      const text = await run('seq 1 20000', { max_output_tokens: 100 });
      assert.match(text, /Original token count: 27224\n/);
      assert.match(
        text,
        /Warning: truncated output \(original token count: 27224\)\nTotal output lines: 20000\n\n1\n2\n/,
      );
      assert.match(text, /…27124 tokens truncated…/);
      assert.ok(text.endsWith('19999\n20000\n'));
    });

    it('keeps 100 MB of output in bounded memory and counts what it left out', async function () {
      this.timeout(120_000);
      // The first command loads the grammar.
      await run('echo warm | cat');
      collectGarbage();
      const before = process.memoryUsage();
      const text = await run('echo FIRST; head -c 100000000 /dev/zero | tr "\\0" x; echo; echo LAST', {
        yield_time_ms: 30_000,
      });
      collectGarbage();
      const after = process.memoryUsage();
      assert.match(text, /Original token count: 25000003\n/);
      assert.match(text, /\.\.\. 98\d{6} bytes omitted \.\.\./);
      assert.match(text, /\nFIRST\nx+…\d+ tokens truncated…x+\nLAST\n$/);
      const growth = after.heapUsed + after.external - before.heapUsed - before.external;
      assert.ok(growth < 32 * 1024 * 1024, `memory grew by ${growth} bytes`);
    });

    it('gives characters whole when they arrive in pieces, and invalid bytes and NULs as they are', async () => {
      const session = await it_.open(`printf 'a\\xe2\\x82'; sleep ${startS}; printf '\\xacb'`, {
        tty: false,
        yield_time_ms: startS * 300,
      });
      const rest = await it_.type(session, '');
      assert.match(rest, /Output:\n€b$/);
      assert.match(await run(`printf 'x\\xff\\x00y'`), /Output:\nx\uFFFD\0y$/);
    });

    it('shows a terminal session as its screen: progress settled, no escape codes', async () => {
      const progress =
        'for i in 1 2 3; do printf "\\rstep $i"; sleep 0.05; done; printf "\\r\\033[32mdone  \\033[0m\\n"';
      assert.match(await run(progress, { tty: true }), /Output:\ndone *$/);
      assert.match(await run(progress, { tty: true, output: 'stream' }), /step 1\rstep 2/);
      assert.match(await run(progress, { output: 'screen' }), /Output:\ndone *$/);
    });

    it('joins lines that the terminal wrapped', async () => {
      assert.match(await run('printf "%0200d\\n" 7', { tty: true }), /Output:\n0{199}7$/);
    });

    it('ends the process group when the caller gives up, and keeps the session viewable', async () => {
      const abort = new AbortController();
      const marker = `4${process.pid}.5`;
      const running = it_.call(
        'exec_command',
        { cmd: `sleep ${marker} & sleep ${marker}` },
        { signal: abort.signal },
      );
      await waitFor('the command', () =>
        listProcesses().some(({ command }) => command.includes(`sleep ${marker}`)),
      );
      if (!isCordon) {
        // A kill within the first moments of their sandbox leaves what is inside.
        await new Promise((resolve) => setTimeout(resolve, 1_000));
      }
      abort.abort();
      const result = await running;
      assert.match(result.text, /^Wall time: \d+\.\d{4} seconds\naborted by user$/);
      await waitFor(
        'its end',
        () => !listProcesses().some(({ command }) => command.includes(`sleep ${marker}`)),
      );
      assert.ok(it_.runtime.sessions.get(result.sessionId as number) !== undefined);
    });

    it('stops only the waiting when a poll is given up', async () => {
      const session = await it_.open('sleep 60');
      const abort = new AbortController();
      const poll = it_.call('write_stdin', { session_id: session.id }, { signal: abort.signal });
      abort.abort();
      assert.match((await poll).text, /aborted by user/);
      assert.equal(session.state.kind, 'running');
      await session.terminate();
    });

    it('lists and kills sessions', async () => {
      const session = await it_.open('echo started; sleep 60', { tty: false });
      assert.match(
        (await it_.call('list_sessions', {})).text,
        new RegExp(`${session.id}: running for \\d+ s, pipes, workspace-write`),
      );
      assert.match(
        (await it_.call('kill_session', { session_id: session.id })).text,
        isCordon ? /Process exited with code 143/ : /Process exited with code 137/,
      );
      assert.match((await it_.call('kill_session', { session_id: session.id })).text, /Unknown process id/);
    });

    it('holds 64 sessions: opening another ends the least recently used', async function () {
      this.timeout(120_000);
      const many = await createTestRuntime();
      const sessions: Session[] = [];
      for (let count = 0; count < 67; count++) {
        sessions.push(await many.open('sleep 600', { tty: false }));
      }
      await waitFor('the three oldest to end', () => sessions.slice(0, 3).every(({ isClosed }) => isClosed));
      assert.ok(sessions.slice(3).every(({ state }) => state.kind === 'running'));
      assert.equal(many.runtime.sessions.known().length, 64);
      await many.dispose();
    });

    it('runs in the workdir: relative, absolute, by the name of the root, through a link', async () => {
      await mkdir(join(it_.root, 'sub'));
      await symlink('sub', join(it_.root, 'link'));
      for (const workdir of ['sub', join(it_.root, 'sub'), 'link']) {
        assert.match(await run('pwd -P', { workdir }), new RegExp(`Output:\n${it_.root}/sub\n$`));
      }
      assert.match(
        await run('pwd', { workdir: it_.root.split('/').at(-1) }),
        new RegExp(`Output:\n${it_.root}\n$`),
      );
      await writeFile(join(it_.root, 'file'), '');
      for (const workdir of ['none', 'file']) {
        assert.match(await run('pwd', { workdir }), /workdir .*\/(none|file) is not an existing folder/);
      }
    });

    it('names field, value and rule of bad input', async () => {
      for (const [input, pattern] of [
        [{}, /cmd \(missing\)/],
        [{ cmd: 7 }, /cmd \(7\): .*string/],
        [{ cmd: '' }, /cmd \(""\): must not be empty/],
        [{ cmd: 'a\0b' }, /NUL/],
        [{ cmd: 'ls', max_output_tokens: -1 }, /max_output_tokens \(-1\): must not be negative/],
        [{ cmd: 'ls', output: 'film' }, /output \("film"\): .*"screen"\|"stream"/],
        [{ cmd: 'x'.repeat(200_000) }, /longer than 120 KiB/],
      ] as const) {
        const result = await it_.call('exec_command', input);
        assert.ok(result.isError);
        assert.match(result.text, pattern);
      }
      assert.match(await run('ls', { shell: '/no/shell' }), /shell \/no\/shell is not an executable file/);
      assert.match(await run('ls', { unknown: 1 }), /Process exited with code 0/);
    });

    it('reports a denial with its path and what to do', async () => {
      const text = await run('touch /usr/share/cordon-denied');
      assert.match(
        text,
        /Process exited with code 1\nSandbox: .*cordon-denied.*additional_permissions \{"file_system":\{"write":\["\/usr\/share"\]\}\}/,
      );
    });

    it('asks before it runs without a sandbox, and does not run when refused', async () => {
      const open = await createTestRuntime({ mode: 'danger-full-access' });
      open.approvals.onDidAsk(({ id, title }) => {
        assert.match(title, /without a sandbox\?/);
        void open.approvals.answer(id, { kind: 'deny', by: 'person', comment: 'Not here.' });
      });
      const refused = await open.call('exec_command', { cmd: 'touch ran' }, { allow: false });
      assert.match(refused.text, /the person declined\. Comment of the person: Not here\./);
      assert.match((await open.call('exec_command', { cmd: 'ls' })).text, /Output:\n$/);
      const session = await open.open('cat');
      const typed = await open.call(
        'write_stdin',
        { session_id: session.id, chars: 'x\n' },
        { allow: false },
      );
      assert.match(typed.text, /write_stdin failed: the person declined/);
      await open.dispose();
    });

    it('lets the "never" of a workspace open nothing where there is no sandbox', async () => {
      for (const source of ['user', 'workspace'] as const) {
        const open = await createTestRuntime({ mode: 'danger-full-access' }, process.env, {
          approval: { ...neverAsk, source },
        });
        const root = { name: 'root', path: open.root };
        const session = await open.runtime.runForPerson({ commandLine: 'cat', cwd: open.root, root });
        assert.ok(session.ok);
        const ran = await open.call('exec_command', { cmd: 'echo ran' }, { allow: false });
        const typed = await open.call(
          'write_stdin',
          { session_id: session.value.id, chars: 'x\n' },
          { allow: false },
        );
        const isRefused = source === 'workspace';
        assert.deepEqual([ran.isError, typed.isError], [isRefused, isRefused], `${ran.text}\n${typed.text}`);
        if (isRefused) {
          assert.match(ran.text, /none is asked \(cordon\.approvals\.policy is "never"\)/);
          assert.match(typed.text, /none is asked \(cordon\.approvals\.policy is "never"\)/);
        }
        await open.dispose();
      }
    });

    it('types into nothing that was allowed more while the workspace was trusted', async () => {
      let isTrusted = true;
      const of = await createTestRuntime({}, process.env, { isTrusted: () => isTrusted });
      const before = await of.open('read line; echo "got $line" > written');
      isTrusted = false;
      assert.match(
        await of.type(before, 'it\r'),
        /write_stdin failed: the workspace is not trusted any more, and session \d+ may do/,
      );
      const after = await of.open('read line; echo "got $line"');
      assert.match(await of.type(after, 'it\r', { yield_time_ms: startS * 5_000 }), /got it/);
      assert.match(
        (await of.call('exec_command', { cmd: 'echo x > written' })).text,
        /exited with code [12]/,
      );
      assert.match(
        await of.type(before, '\u0003', { yield_time_ms: startS * 5_000 }),
        /Process exited with code (?!0)/,
      );
      assert.match((await of.call('exec_command', { cmd: 'cat written' })).text, /exited with code 1/);
      await of.dispose();
    });

    it('gives children core variables, no secrets, no pager', async () => {
      const secret = await createTestRuntime(
        {},
        { ...process.env, MY_TOKEN: 'sesame', AWS_SECRET_ACCESS_KEY: 'sesame', LD_PRELOAD: '' },
      );
      const { text } = await secret.call('exec_command', { cmd: 'env', login: false });
      assert.doesNotMatch(text, /sesame|LD_PRELOAD/);
      assert.match(text, /^PAGER=cat$/m);
      assert.match(text, /^HOME=/m);
      assert.match(text, /^CORDON_SANDBOX=workspace-write$/m);
      await secret.dispose();
    });
  });
}
