import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CreateTestRuntime, TestRuntime } from './testRuntime.ts';

/** Programs that want a person at a terminal, wherever they run; unless told otherwise, in a sandbox. */
export function describeInteractive(
  where: string,
  createTestRuntime: CreateTestRuntime,
  { isConfined = true } = {},
): void {
  describe(`interactive programs in a terminal session ${where}`, () => {
    let it_: TestRuntime;
    beforeEach(async () => {
      it_ = await createTestRuntime();
    });
    afterEach(() => it_.dispose());

    it('edits a file in vim', async () => {
      const session = await it_.open('vim -u NONE -i NONE -N story.txt', { yield_time_ms: 1_500 });
      await it_.type(session, 'iOnce upon a time\u001b', { yield_time_ms: 1_000 });
      assert.match(await it_.type(session, ':set number\r', { yield_time_ms: 1_000 }), /1 Once upon a time/);
      assert.match(await it_.type(session, ':wq\r', { yield_time_ms: 5_000 }), /Process exited with code 0/);
      assert.equal(await readFile(join(it_.root, 'story.txt'), 'utf8'), 'Once upon a time\n');
    });

    it('shows top as one screen and quits it with a key', async () => {
      const session = await it_.open('top -d 0.5', { yield_time_ms: 2_000 });
      const screen = await it_.type(session, 'h', { yield_time_ms: 2_000 });
      assert.match(screen, /Help for Interactive Commands/);
      assert.ok(screen.split('\n').length < 40, 'a screen, not a scroll');
      await it_.type(session, 'q', { yield_time_ms: 1_000 });
      const end =
        session.state.kind === 'exited'
          ? 'exited with code 0'
          : await it_.type(session, 'q', { yield_time_ms: 5_000 });
      assert.match(end, /exited with code 0/);
    });

    it('talks to a python REPL, and Ctrl-C interrupts the computation only', async () => {
      const session = await it_.open('python3 -q', { yield_time_ms: 2_000 });
      assert.match(await it_.type(session, 'print(6 * 7)\r', { yield_time_ms: 1_000 }), /42/);
      await it_.type(session, 'while True: pass\r\r', { yield_time_ms: 500 });
      assert.match(await it_.type(session, '\u0003', { yield_time_ms: 1_500 }), /KeyboardInterrupt/);
      assert.equal(session.state.kind, 'running');
      assert.match(
        await it_.type(session, 'print("still" + " here")\r', { yield_time_ms: 1_000 }),
        /still here/,
      );
      assert.match(await it_.type(session, '\u0004', { yield_time_ms: 5_000 }), /Process exited with code 0/);
    });

    it('answers the prompts of npm init', async () => {
      const session = await it_.open('npm init', { yield_time_ms: 10_000 });
      const answers = {
        name: 'from-a-session',
        version: '',
        description: 'answered',
        entry: '',
        test: '',
        git: '',
        keywords: '',
        author: '',
        license: '',
        type: '',
      };
      for (const answer of Object.values(answers)) {
        await it_.type(session, `${answer}\r`, { yield_time_ms: 700 });
      }
      if (session.state.kind === 'running') {
        await it_.type(session, 'yes\r', { yield_time_ms: 10_000 });
      }
      const written = JSON.parse(await readFile(join(it_.root, 'package.json'), 'utf8')) as {
        name: string;
        description: string;
      };
      assert.equal(written.name, 'from-a-session');
      assert.equal(written.description, 'answered');
    });

    it('takes a password that is not echoed', async () => {
      const session = await it_.open(`read -s -p 'Password: ' word; echo; echo "got \${#word} characters"`);
      assert.match(await session.replay(), /Password:/);
      const answer = await it_.type(session, 'hunter2\r', { yield_time_ms: 5_000 });
      assert.match(answer, /got 7 characters/);
      assert.doesNotMatch(answer + (await session.replay()), /hunter2/);
    });

    it('gives a shell job control: Ctrl-Z stops, fg goes on', async () => {
      const session = await it_.open('bash --norc -i', { yield_time_ms: 1_000 });
      await it_.type(session, 'sleep 100\r', { yield_time_ms: 500 });
      assert.match(await it_.type(session, '\u001a', { yield_time_ms: 1_000 }), /Stopped/);
      await it_.type(session, 'fg\r', { yield_time_ms: 500 });
      assert.match(await it_.type(session, '\u0003echo status $?\r', { yield_time_ms: 1_500 }), /status 130/);
      assert.match(await it_.type(session, 'exit\r', { yield_time_ms: 5_000 }), /Process exited/);
    });
  });

  describe(`git rebase -i where the person made .git writable ${where}`, () => {
    it('reorders and squashes commits through the editor in the terminal', async () => {
      const it_ = await createTestRuntime((root) => ({ writableRoots: [`${root}/.git`] }));
      execFileSync('bash', ['-ec', setUpRepository], { cwd: it_.root });
      const session = await it_.open('EDITOR="vim -u NONE -i NONE -N" git rebase -i --root', {
        yield_time_ms: 3_000,
      });
      // Squash the second commit into the first, keep the proposed message.
      await it_.type(session, ':2s/^pick/squash/\r', { yield_time_ms: 1_000 });
      await it_.type(session, ':wq\r', { yield_time_ms: 3_000 });
      assert.match(await it_.type(session, ':wq\r', { yield_time_ms: 10_000 }), /Successfully rebased/);
      const log = execFileSync('git', ['log', '--format=%s'], { cwd: it_.root, encoding: 'utf8' });
      assert.equal(log, 'commit 3\ncommit 1\n');
      const hook = await it_.call('exec_command', { cmd: 'echo evil > .git/hooks/pre-commit' });
      assert.equal(/Read-only file system/.test(hook.text), isConfined, hook.text);
      await it_.dispose();
    });
  });
}

const setUpRepository = `
  git init -q .
  git config user.email author@example.com
  git config user.name Author
  for n in 1 2 3; do echo $n > file$n; git add file$n; git commit -qm "commit $n"; done`;
