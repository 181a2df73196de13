import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import type { Denial } from '../../src/sandbox/denials/denial.ts';
import { waitForYield } from '../../src/runtime/sessions/answer.ts';
import type { TestRuntime } from '../harness/testRuntime.ts';
import { createTestRuntime } from '../harness/testRuntime.ts';

describe('What an answer says about the sandbox', function () {
  let it_: TestRuntime;
  before(async function () {
    if (process.platform !== 'linux') this.skip();
    it_ = await createTestRuntime();
  });
  after(() => it_?.dispose());

  const answer = async (cmd: string): Promise<string> => (await it_.call('exec_command', { cmd })).text;
  const about = (text: string): readonly string[] => text.match(/^Sandbox: .*$/gm) ?? [];
  const denials = async (cmd: string): Promise<readonly Denial[]> => {
    const session = await it_.open(`sleep 1; ${cmd}`);
    await waitForYield(session, {
      yieldMs: 20_000,
      maxTokens: 1,
      form: 'stream',
      signal: new AbortController().signal,
    });
    return session.denials();
  };

  it('tells of what a program swallowed, and that it went on', async function () {
    if (!hasProgram('python3')) this.skip();
    const swallow = 'import socket\ntry: socket.socket(38, 5)\nexcept OSError: print("fine")';
    const text = await answer(`python3 -c '${swallow}'`);
    assert.match(text, /exited with code 0[^]*\nfine\n/);
    assert.deepEqual(about(text), [
      'Sandbox: The sandbox refused the system call socket for cryptography of the kernel (AF_ALG). The command went on.',
    ]);
    assert.deepEqual(about(await answer('python3 -c "print(38)"')), []);
  });

  it('tells of it before a failure for another reason, too', async () => {
    const [line, ...more] = about(await answer('unshare --net true 2>/dev/null; exit 3'));
    assert.match(line ?? '', /refused the system call unshare \(new namespaces\)/);
    assert.deepEqual(more, []);
  });

  it('counts what it does not list, and says when there may be more', async () => {
    const write = (count: number): string => `for i in $(seq ${count}); do touch /etc/made-$i; done`;
    assert.match(about(await answer(write(5))).at(-1) ?? '', /^Sandbox: 2 more things were stopped\.$/);
    assert.match(
      about(await answer(write(30))).at(-1) ?? '',
      /^Sandbox: at least 17 more things were stopped\.$/,
    );
  });

  const ownReasons: readonly (readonly [string, string])[] = [
    ['a script that nobody may run', 'echo x > tool.sh; ./tool.sh'],
    ['words of a program', 'echo "error: sandbox test failed, seccomp"; exit 1'],
    ['a file that is nowhere', 'cat no-such-file'],
    ['a folder that the command closed itself', 'mkdir -m 500 own; cd own; cat ../own/x/y'],
  ];
  for (const [what, cmd] of ownReasons) {
    it(`does not blame itself for ${what}`, async () => {
      const text = await answer(cmd);
      assert.doesNotMatch(text, /exited with code 0/);
      assert.deepEqual(about(text), []);
    });
  }

  it('is sure about a place that the policy closes, and names what a grant needs', async () => {
    const [first, ...others] = await denials('touch /usr/share/cordon-denied');
    assert.deepEqual(
      [first?.certainty, first?.path, first?.access, first?.clause, others.length],
      ['known', '/usr/share/cordon-denied', 'write', 'writableRoots', 0],
    );
  });

  it('says nothing of what failed and was not the end', async () => {
    assert.deepEqual(about(await answer('touch /usr/share/x; true')), []);
  });
});

function hasProgram(name: string): boolean {
  try {
    execFileSync('which', [name]);
    return true;
  } catch {
    return false;
  }
}
