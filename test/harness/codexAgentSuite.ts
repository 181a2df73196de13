import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { CodexAgent, commandAnswer } from './codexAgent.ts';
import type { CommandAnswer } from './codexAgent.ts';
import type { ServerUnderTest } from './clientFaultSuite.ts';
import { startFaultyProxy } from './faultyProxy.ts';
import { listen } from './proxyClient.ts';
import type { TemporaryFolder } from './temporaryFolder.ts';
import { createTemporaryFolder } from './temporaryFolder.ts';

/** What the agent's users get from it, whatever server is its environment: tool call by tool call. */
export function describeCodexAgent(name: string, startServer: () => Promise<ServerUnderTest>): void {
  describe(`the real codex agent on ${name}`, function () {
    this.timeout(120_000);
    let server: ServerUnderTest;
    let folder: TemporaryFolder;
    let agent: CodexAgent;
    const at = (file: string): string => join(folder.path, file);
    const read = (file: string): string => readFileSync(at(file), 'utf8');

    before(async () => {
      server = await startServer();
      folder = await createTemporaryFolder('agent');
    });
    after(async () => {
      await server.dispose();
      await folder.dispose();
    });

    const useAgent = (mode: Parameters<typeof CodexAgent.start>[0]['mode']): void => {
      before(async () => {
        agent = await CodexAgent.start({ serverUrl: server.url, folder: folder.path, mode });
      });
      after(() => agent.dispose());
    };

    /** Polls to the end; all that came. */
    async function toEnd(first: CommandAnswer): Promise<CommandAnswer> {
      let last = first;
      let output = first.output;
      while (last.sessionId !== undefined) {
        last = await agent.write(last.sessionId, '');
        output += last.output;
      }
      return { ...last, output };
    }

    describe('unconfined', () => {
      useAgent('danger-full-access');

      it('gets output, errors and exit code', async () => {
        const { exitCode, output } = await agent.exec('echo out; echo err >&2; exit 3');
        assert.equal(exitCode, 3);
        assert.deepEqual(output.trimEnd().split('\n').sort(), ['err', 'out']);
      });

      it('chooses the folder', async () => {
        mkdirSync(at('sub dir'), { recursive: true });
        assert.equal((await agent.exec('pwd', { workdir: 'sub dir' })).output, `${at('sub dir')}\n`);
      });

      it('gives commands its environment on top of the server’s', async () => {
        const { output } = await agent.exec(
          'echo $CODEX_CI $TERM $PAGER $NO_COLOR "${HOME:+home}" "${CODEX_EXEC_SERVER_URL-none}"',
        );
        assert.equal(output, '1 dumb cat 1 home none\n');
      });

      it('has a login shell when it wants one', async () => {
        const { output } = await agent.exec('shopt -q login_shell && echo login', { login: true });
        assert.match(output, /^login$/m);
      });

      it('is told of a program that is missing', async () => {
        const { exitCode, output } = await agent.exec('no-such-program-anywhere');
        assert.equal(exitCode, 127);
        assert.match(output, /no-such-program-anywhere: command not found/);
      });

      it('is told of a folder that is missing', async () => {
        const { exitCode, text } = await agent.exec('true', { workdir: at('nowhere') });
        assert.equal(exitCode, undefined);
        assert.match(
          text,
          /^exec_command failed: CreateProcess \{ message: .*(No such file or directory|does not exist)/,
        );
      });

      it('is told which signal ended a command', async () => {
        assert.equal((await agent.exec('kill -KILL $$')).exitCode, 137);
      });

      it('talks to a terminal', async () => {
        const started = await agent.exec('stty size; read line; echo "got $line"; exec cat', {
          tty: true,
          yield_time_ms: 250,
        });
        assert.notEqual(started.sessionId, undefined, started.text);
        const answered = await agent.write(started.sessionId, 'hello\n', { yield_time_ms: 2_000 });
        assert.match(started.output + answered.output, /^24 80\r\n/);
        assert.match(answered.output, /hello\r\ngot hello\r\n/);
        const echoed = await agent.write(started.sessionId, 'again\n', { yield_time_ms: 2_000 });
        assert.match(echoed.output, /^again\r\nagain\r\n$/);
        const ended = await toEnd(await agent.write(started.sessionId, '\u0004'));
        assert.equal(ended.exitCode, 0);
      });

      it('interrupts what runs on a terminal', async () => {
        const started = await agent.exec(
          'trap "echo caught; exit 7" INT; echo ready; while :; do sleep 0.1; done',
          {
            tty: true,
            yield_time_ms: 2_000,
          },
        );
        assert.match(started.output, /ready/);
        const { exitCode, output } = await toEnd(await agent.write(started.sessionId, '\u0003'));
        assert.equal(exitCode, 7);
        assert.match(output, /caught/);
      });

      it('interrupts what has no terminal', async () => {
        const started = await agent.exec('sleep 300', { yield_time_ms: 250 });
        const { exitCode } = await toEnd(await agent.write(started.sessionId, '\u0003'));
        assert.equal(exitCode, 130);
      });

      it('cannot write where there is no terminal', async () => {
        const started = await agent.exec('sleep 300', { yield_time_ms: 250 });
        const { text } = await agent.write(started.sessionId, 'hello\n');
        assert.match(text, /^write_stdin failed: stdin is closed for this session/);
        await toEnd(await agent.write(started.sessionId, '\u0003'));
      });

      it('polls for what came since', async () => {
        const started = await agent.exec('for i in 1 2 3 4; do echo line $i; sleep 0.5; done; exit 4', {
          yield_time_ms: 250,
        });
        assert.notEqual(started.sessionId, undefined, started.text);
        const { exitCode, output } = await toEnd(started);
        assert.equal(output, 'line 1\nline 2\nline 3\nline 4\n');
        assert.equal(exitCode, 4);
        const { text } = await agent.write(started.sessionId, '');
        assert.match(text, /^write_stdin failed: Unknown process id/);
      });

      it('gets head and tail of long output, and its true length', async () => {
        const { exitCode, output, tokens } = await agent.exec('seq 1 100000');
        const bytes = Array.from({ length: 100_000 }, (_, index) => `${index + 1}\n`.length);
        assert.equal(tokens, Math.ceil(bytes.reduce((sum, length) => sum + length, 0) / 4));
        assert.match(output, /^Warning: truncated output .*\nTotal output lines: 100000\n\n1\n2\n3\n/);
        assert.match(output, /tokens truncated/);
        assert.match(output, /\n99999\n100000\n?$/);
        assert.equal(exitCode, 0);
      });

      it('gets more than the server retains', async () => {
        const answer = await agent.exec(
          `head -c ${8 * 1024 ** 2} /dev/zero | tr '\\0' x; echo; echo the end`,
          {
            yield_time_ms: 30_000,
          },
        );
        const { exitCode, output } = await toEnd(answer);
        assert.equal(exitCode, 0, answer.text.slice(0, 300));
        assert.match(output, /the end\n?$/);
      });

      it('gets bytes that are no text', async () => {
        assert.equal((await agent.exec(String.raw`printf 'a\377b\303\244'`)).output, 'a\uFFFDbä');
      });

      it('waits for a child in the background that holds the output', async () => {
        const { exitCode, output } = await toEnd(await agent.exec('(sleep 1; echo late) & echo now'));
        assert.equal(exitCode, 0);
        assert.equal(output, 'now\nlate\n');
      });

      it('makes two calls side by side', async () => {
        // Each waits for the other, so that neither ends when they come one after the other.
        const meet = (mine: string, other: string): string =>
          `touch ${mine}; until [ -e ${other} ]; do sleep 0.05; done; echo ${mine}`;
        const answers = await agent.call(
          { name: 'exec_command', arguments: { cmd: meet('left', 'right'), yield_time_ms: 30_000 } },
          { name: 'exec_command', arguments: { cmd: meet('right', 'left'), yield_time_ms: 30_000 } },
        );
        assert.deepEqual(
          answers.map(commandAnswer).map(({ output, exitCode }) => [output, exitCode]),
          [
            ['left\n', 0],
            ['right\n', 0],
          ],
        );
      });

      describePatches();

      it('comes to a good end', () => agent.finish());
    });

    function describePatches(): void {
      it('adds, updates, deletes and moves files by a patch', async () => {
        writeFileSync(at('updated'), 'one\ntwo\nthree\n');
        writeFileSync(at('deleted'), 'gone\n');
        writeFileSync(at('moved'), 'a\nb\n');
        const text = await agent.patch(
          ...['*** Add File: new/deep/file', '+new'],
          ...['*** Update File: updated', '@@', ' one', '-two', '+2', ' three'],
          '*** Delete File: deleted',
          ...['*** Update File: moved', '*** Move to: elsewhere/moved', '@@', ' a', '-b', '+c'],
        );
        assert.match(text, /Success\. Updated the following files/);
        assert.equal(read('new/deep/file'), 'new\n');
        assert.equal(read('updated'), 'one\n2\nthree\n');
        assert.equal(existsSync(at('deleted')), false);
        assert.equal(existsSync(at('moved')), false);
        assert.equal(read('elsewhere/moved'), 'a\nc\n');
      });

      it('is told why a patch does not apply', async () => {
        writeFileSync(at('other'), 'one\n');
        const text = await agent.patch('*** Update File: other', '@@', '-two', '+2');
        assert.match(text, /Failed to find expected lines/);
        assert.equal(read('other'), 'one\n');
        assert.match(
          await agent.patch('*** Update File: no-such-file', '@@', '-two', '+2'),
          /No such file or directory|not found/i,
        );
      });
    }

    describe('in workspace-write', () => {
      useAgent('workspace-write');
      let outside: string;
      before(() => {
        // The temporary folder of the system is open to it.
        outside = mkdtempSync('/var/tmp/cordon-outside-');
      });
      after(() => rmSync(outside, { recursive: true, force: true }));

      it('writes inside', async () => {
        const { exitCode, output } = await agent.exec('echo inside > written; cat written');
        assert.equal(exitCode, 0);
        assert.equal(output, 'inside\n');
        assert.equal(read('written'), 'inside\n');
      });

      it('does not write outside, and is told so', async () => {
        const { exitCode, output } = await agent.exec(`echo x > ${outside}/denied`);
        assert.equal(exitCode, 1);
        assert.match(output, /Read-only file system/);
        assert.equal(existsSync(`${outside}/denied`), false);
      });

      it('does not write into .git', async () => {
        mkdirSync(at('.git'), { recursive: true });
        const { exitCode } = await agent.exec('echo x > .git/config');
        assert.notEqual(exitCode, 0);
        assert.equal(existsSync(at('.git/config')), false);
      });

      it('reads outside', async () => {
        writeFileSync(`${outside}/readable`, 'readable');
        assert.equal((await agent.exec(`cat ${outside}/readable`)).output, 'readable');
      });

      it('has no network', async () => {
        let reached = 0;
        const web = createServer((_, response) => {
          reached++;
          response.end();
        });
        const port = await listen(web);
        const { exitCode, output } = await agent.exec(
          `echo $CODEX_SANDBOX_NETWORK_DISABLED; exec 3<>/dev/tcp/127.0.0.1/${port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3`,
        );
        web.close();
        assert.equal(exitCode, 1);
        // What it complains about comes over another pipe, and so before or after.
        assert.match(output, /^1$/m);
        assert.equal(reached, 0);
      });

      it('talks to a terminal', async () => {
        const started = await agent.exec('read line; echo "got $line" > heard; exit 5', {
          tty: true,
          yield_time_ms: 500,
        });
        const { exitCode } = await toEnd(await agent.write(started.sessionId, 'hello\n'));
        assert.equal(exitCode, 5);
        assert.equal(read('heard'), 'got hello\n');
      });

      it('ends what a command leaves in the background', async () => {
        const { exitCode, output } = await toEnd(
          await agent.exec('(sleep 300; echo late) & echo now', { yield_time_ms: 10_000 }),
        );
        assert.equal(exitCode, 0);
        assert.equal(output, 'now\n');
      });

      describePatches();

      it('patches nothing outside', async () => {
        const text = await agent.patch(`*** Add File: ${outside}/patched`, '+x');
        assert.match(text, /rejected|outside/i);
        assert.equal(existsSync(`${outside}/patched`), false);
      });

      it('comes to a good end', () => agent.finish());
    });

    describe('in read-only', () => {
      useAgent('read-only');

      it('reads', async () => {
        writeFileSync(at('readable'), 'readable');
        assert.equal((await agent.exec('cat readable')).output, 'readable');
      });

      it('writes nothing', async () => {
        const { exitCode, output } = await agent.exec('echo x > denied');
        assert.equal(exitCode, 1);
        assert.match(output, /Read-only file system/);
        assert.equal(existsSync(at('denied')), false);
      });

      it('patches nothing', async () => {
        await agent.patch('*** Add File: patched', '+x');
        assert.equal(existsSync(at('patched')), false);
      });
    });

    describe('on a connection that breaks', () => {
      const count = 60;
      const counting = `for i in $(seq 1 ${count}); do echo line $i; sleep 0.05; done`;
      const counted = Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('');

      async function startBehindProxy() {
        const { hostname: host, port } = new URL(server.url);
        const proxy = await startFaultyProxy({ host, port: Number(port) });
        agent = await CodexAgent.start({
          serverUrl: `ws://${proxy.address}`,
          folder: folder.path,
          mode: 'danger-full-access',
        });
        return proxy;
      }

      it('loses and repeats nothing', async () => {
        const proxy = await startBehindProxy();
        try {
          const started = await agent.exec(counting, { yield_time_ms: 250 });
          assert.notEqual(started.sessionId, undefined, started.text);
          proxy.cutAfter(300);
          const { exitCode, output } = await toEnd(started);
          assert.equal(exitCode, 0);
          assert.equal(output, counted);
          assert.ok(proxy.connections > 1, 'it was cut');
          assert.equal((await agent.exec('echo next')).output, 'next\n');
        } finally {
          await agent.dispose();
          await proxy.dispose();
        }
      });

      it('goes on talking to a terminal', async () => {
        const proxy = await startBehindProxy();
        try {
          const started = await agent.exec('while read line; do echo "<$line>"; done', {
            tty: true,
            yield_time_ms: 250,
          });
          proxy.cutAfter(0);
          const answered = await agent.write(started.sessionId, 'over the gap\n', { yield_time_ms: 5_000 });
          assert.match(answered.output, /<over the gap>/);
          assert.equal(answered.output.split('<over the gap>').length, 2, 'written once');
          assert.ok(proxy.connections > 1, 'it was cut');
          assert.equal((await toEnd(await agent.write(started.sessionId, '\u0004'))).exitCode, 0);
        } finally {
          await agent.dispose();
          await proxy.dispose();
        }
      });
    });
  });
}
