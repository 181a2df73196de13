import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Approval } from '../../src/runtime/approvals/approval.ts';
import type { ApprovalPolicy } from '../../src/runtime/approvals/approvalPolicy.ts';
import { neverAsk } from '../../src/runtime/approvals/approvalPolicy.ts';
import type { ExecBackend } from '../../src/runtime/exec/execBackend.ts';
import type { PrefixRule, RuleSet } from '../../src/sandbox/rules/rule.ts';
import { noRules } from '../../src/sandbox/rules/rule.ts';
import { createLocalPrograms } from '../harness/localEnvironment.ts';
import { assertEnded, listProcesses, processesWithEnvironment } from '../harness/processes.ts';
import type { TemporaryFolder } from '../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import type { TestRuntime } from '../harness/testRuntime.ts';
import { createTestRuntime } from '../harness/testRuntime.ts';
import { waitFor } from '../harness/waitFor.ts';

type RuleWords = Partial<Pick<PrefixRule, 'decision' | 'runs'>> & { readonly words: readonly string[] };

function rules(...all: readonly RuleWords[]): RuleSet {
  return {
    ...noRules,
    prefixes: all.map(({ words, decision = 'prompt', runs = 'inside' }) => ({
      pattern: words.map((word) => [word]),
      decision,
      runs,
      justification: 'Because of the test.',
      origin: { source: 'user', place: 'test.rules:1' },
    })),
  };
}

const git = (cwd: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.org', ...args], {
    cwd,
    encoding: 'utf8',
  });

/** What runs the scripts and their parts. */
interface Runner {
  readonly backend?: ExecBackend;
  /** An expression for it in a program of its own that is killed; what it prints goes on in `end`. */
  readonly ownBackend: string;
  end(printed: string): Promise<void>;
  dispose(): Promise<void>;
}

const inProcess = async (): Promise<Runner> => ({
  ownBackend: 'undefined',
  end: async () => {},
  dispose: async () => {},
});

const inServer = async (): Promise<Runner> => {
  const programs = await createLocalPrograms();
  return {
    backend: programs.open().backend,
    ownBackend: '(await openBackend())',
    async end(printed) {
      const servers = listProcesses().filter(({ command }) => command.includes(`unix:${printed}/`));
      assert.equal(servers.length, 1);
      servers.forEach(({ pid }) => process.kill(pid));
      await assertEnded(servers);
      await rm(dirname(printed), { recursive: true });
    },
    dispose: () => programs.dispose(),
  };
};

for (const [where, createRunner] of [
  ['in this process', inProcess],
  ['in the server of this machine', inServer],
] as const) {
  describeParts(where, createRunner);
}

function describeParts(where: string, createRunner: () => Promise<Runner>): void {
  describe(`Parts of a script ${where}`, function () {
    this.timeout(120_000);
    let runner: Runner;
    before(async () => (runner = await createRunner()));
    after(() => runner.dispose());
    let outside: TemporaryFolder;
    let runtime: TestRuntime | undefined;
    beforeEach(async () => (outside = await createTemporaryFolder('outside')));
    afterEach(async () => {
      await runtime?.dispose();
      runtime = undefined;
      await outside.dispose();
    });

    /** A runtime in which questions are answered by the offers with these ids, in turn; collects them. */
    async function setUp(
      options: { rules?: RuleSet; approval?: ApprovalPolicy; user?: object },
      ...answers: readonly string[]
    ): Promise<{ readonly asked: Approval[]; readonly test: TestRuntime }> {
      const { user = {}, ...rest } = options;
      const test = await createTestRuntime({ files: { [outside.path]: 'read' }, ...user }, process.env, {
        rules: rules({ words: ['git', 'push'] }),
        ...(runner.backend && { backend: runner.backend }),
        ...rest,
      });
      runtime = test;
      const asked: Approval[] = [];
      test.approvals.onDidAsk((approval) => {
        const offer = approval.offers.find(({ id }) => id === answers[asked.length]);
        asked.push(approval);
        if (offer !== undefined) {
          void test.approvals.answer(approval.id, offer.answer);
        }
      });
      return { asked, test };
    }

    async function script(test: TestRuntime, ...lines: readonly string[]): Promise<string> {
      const path = join(test.root, 'work.sh');
      await writeFile(path, ['#!/bin/bash', ...lines, ''].join('\n'));
      await chmod(path, 0o755);
      return './work.sh';
    }

    const run = async (test: TestRuntime, lines: readonly string[], input: object = {}) =>
      (
        await test.call(
          'exec_command',
          { cmd: await script(test, ...lines), login: false, yield_time_ms: 30_000, ...input },
          { allow: false },
        )
      ).text;

    /** A repository in the root with one commit, and a bare one outside. */
    function repositories(test: TestRuntime): string {
      const bare = join(outside.path, 'bare.git');
      git(outside.path, 'init', '-q', '--bare', bare);
      git(test.root, 'init', '-q', '-b', 'main');
      git(test.root, 'commit', '-q', '--allow-empty', '-m', 'First.');
      git(test.root, 'remote', 'add', 'origin', bare);
      return bare;
    }
    const heads = (bare: string): string => git(bare, 'for-each-ref', '--format=%(refname:short)').trim();

    const lines = (bare: string): readonly string[] => [
      'echo written > inside',
      `echo no > ${outside.path}/denied || echo "still denied"`,
      'mkdir -p sub && cd sub',
      `git push ${bare} main; echo "push ended with $?"`,
      `echo no > ${outside.path}/denied || echo "denied after"`,
    ];

    it('are asked about alone, with their words and folder, and the rest stays in the sandbox', async () => {
      const { asked, test } = await setUp({}, 'once');
      const bare = repositories(test);
      const text = await run(test, lines(bare));
      assert.match(text, /still denied[^]*main -> main[^]*push ended with 0[^]*denied after/);
      assert.equal(heads(bare), 'main');
      assert.equal(await readFile(join(test.root, 'inside'), 'utf8'), 'written\n');
      assert.equal(existsSync(join(outside.path, 'denied')), false);
      assert.equal(asked.length, 1);
      assert.equal(asked[0]?.title, 'Run this part of the script?');
      assert.equal(asked[0]?.commandLine, `git push ${bare} main`);
      assert.equal(asked[0]?.cwd, join(test.root, 'sub'));
      assert.match(asked[0]?.reason ?? '', /“git push” \(test\.rules:1\)[^]*It is part of: \.\/work\.sh/);
    });

    it('are asked about beside git commands of the line, for which the repository is writable', async () => {
      const { asked, test } = await setUp({}, 'once');
      const bare = repositories(test);
      const cmd = `git status --short && ${await script(test, `git push ${bare} main`)}`;
      const { text } = await test.call('exec_command', { cmd, login: false }, { allow: false });
      assert.match(text, /main -> main/);
      assert.equal(asked.length, 1);
      assert.equal(heads(bare), 'main');
    });

    it('end with 126 when the person says no, and the script goes on', async () => {
      const { asked, test } = await setUp({}, 'deny');
      const bare = repositories(test);
      const text = await run(test, [...lines(bare), `git push ${bare} main; echo "again $?"`]);
      assert.match(
        text,
        /cordon: git: the person declined\.[^]*push ended with 126[^]*denied after[^]*again 126/,
      );
      assert.equal(heads(bare), '');
      assert.equal(asked.length, 1);
    });

    it('are offered nothing but what they name where nothing may run without a sandbox', async () => {
      const { asked, test } = await setUp({ user: { files: { [outside.path]: 'none' } } }, 'once');
      const bare = repositories(test);
      assert.match(await run(test, lines(bare)), /main -> main[^]*push ended with 0[^]*denied after/);
      assert.deepEqual(
        asked[0]?.offers.map(({ id }) => id),
        ['once', 'inside', 'remember', 'deny'],
      );
      assert.equal(heads(bare), 'main');
    });

    it('run in the sandbox of the script when the person wants that', async () => {
      const { test } = await setUp({}, 'inside');
      const bare = repositories(test);
      assert.match(await run(test, lines(bare)), /push ended with 1/);
      assert.equal(heads(bare), '');
    });

    it('run without a sandbox when the person wants that', async () => {
      const { test } = await setUp({}, 'unsandboxed');
      const bare = repositories(test);
      assert.match(await run(test, ['git push origin main']), /exited with code 0[^]*main -> main/);
      assert.equal(heads(bare), 'main');
    });

    it('are asked about again until the person wants exactly this to be remembered', async () => {
      const { asked, test } = await setUp({}, 'once', 'remember');
      const bare = repositories(test);
      const push = `git push ${bare} main`;
      assert.match(await run(test, [push, `${push} -f`, `${push} -f`, `${push} -f`]), /exited with code 0/);
      assert.deepEqual(
        asked.map(({ commandLine }) => commandLine),
        [push, `${push} -f`],
      );
    });

    it('are not asked about twice when the command line says the very same', async () => {
      const { asked, test } = await setUp({}, 'once', 'inside');
      repositories(test);
      await test.call('exec_command', { cmd: 'git push origin main', login: false }, { allow: false });
      assert.deepEqual(
        asked.map(({ title }) => title),
        ['Run this command?'],
      );
    });

    it('ask one after the other, and once for what is the same', async () => {
      const { asked, test } = await setUp({});
      repositories(test);
      const push = (name: string): string => `(git push ${name}; echo "$?") &`;
      const answer = run(test, [push('a'), push('a'), push('a'), push('b'), 'wait']);
      await waitFor('the first question', () => asked.length === 1);
      await waitFor('the only question', () => test.approvals.list().length === 1);
      assert.equal(await test.approvals.answer(asked[0]?.id ?? '', { kind: 'deny', by: 'person' }), true);
      await waitFor('the second question', () => asked.length === 2);
      assert.equal(await test.approvals.answer(asked[1]?.id ?? '', { kind: 'deny', by: 'person' }), true);
      assert.equal((await answer).match(/^126$/gm)?.length, 4);
      assert.deepEqual(asked.map(({ commandLine }) => commandLine).sort(), ['git push a', 'git push b']);
    });

    it('are forgotten as questions when they have ended', async () => {
      const { asked, test } = await setUp({});
      repositories(test);
      const answer = run(test, ['git push & sleep 1; kill $!; wait; echo over']);
      await waitFor('the question', () => asked.length === 1);
      assert.match(await answer, /over/);
      await waitFor('no question', () => test.approvals.list().length === 0);
    });

    it('are refused by a rule in its words, and run as before where nobody is to be asked', async () => {
      const forbidden = await setUp({ rules: rules({ words: ['git', 'push'], decision: 'forbidden' }) });
      repositories(forbidden.test);
      const text = await run(forbidden.test, ['git push; echo "ended $?"; git --version']);
      assert.match(text, /“git push” \(test\.rules:1\) forbids git push\. Because[^]*ended 126\ngit version/);
      await forbidden.test.dispose();
      const never = await setUp({ approval: neverAsk });
      const bare = repositories(never.test);
      assert.match(await run(never.test, [`git push ${bare} main; echo "ended $?"`]), /ended 1/);
      assert.deepEqual([...forbidden.asked, ...never.asked], []);
    });

    it('run outside without a question where a rule says so, with nothing of the environment of the script', async () => {
      const { asked, test } = await setUp({
        rules: rules({ words: ['env'], decision: 'allow', runs: 'outside' }),
      });
      const text = await run(test, ['export SMUGGLED=1 LD_PRELOAD=/nonexistent GIT_SSH_COMMAND=true', 'env']);
      assert.match(text, /^PATH=/m);
      assert.doesNotMatch(text, /SMUGGLED|LD_PRELOAD|GIT_SSH|CORDON_SANDBOX|run\/cordon/);
      assert.deepEqual(asked, []);
    });

    it('are found by login shells, too, and are not there without a rule', async () => {
      const withRule = await setUp({});
      const path = { cmd: 'command -v git; echo "$PATH"', login: true };
      assert.match(
        (await withRule.test.call('exec_command', path)).text,
        /\n\/run\/cordon\/parts\/git\n\/run\/cordon\/parts:/,
      );
      await withRule.test.dispose();
      const without = await setUp({ rules: rules({ words: ['git'], decision: 'allow' }) });
      assert.doesNotMatch((await without.test.call('exec_command', path)).text, /cordon\/parts/);
      assert.match((await without.test.call('exec_command', { cmd: 'ls /run/cordon' })).text, /\nlaunch\n/);
    });

    it('are in the audit log with the session of the script', async () => {
      const { test } = await setUp({}, 'once');
      const bare = repositories(test);
      await run(test, [`git push ${bare} main`]);
      const command = `git push ${bare} main`;
      const [first] = test.runtime.sessions.list();
      const entries = test.audited.filter((entry) => 'command' in entry && entry.command === command);
      assert.deepEqual(
        entries.map((entry) => [
          entry.kind,
          entry.kind === 'decision' ? entry.decision : entry.kind === 'end' ? entry.exitCode : undefined,
          'session' in entry && entry.session === first?.id,
        ]),
        [
          ['decision', 'ask', true],
          ['decision', 'run', true],
          ['end', 0, true],
        ],
      );
    });

    describe('that run outside', () => {
      const mark = `parts-${process.pid}`;
      const perlOutside = {
        rules: rules({ words: ['perl'], decision: 'allow' as const, runs: 'outside' as const }),
        user: { environment: { set: { CORDON_MARK: mark } } },
      };
      const marked = () =>
        processesWithEnvironment('CORDON_MARK', mark).filter(({ command }) => /perl -e/.test(command));
      /** The script's own perl, outside: both have the mark, and only one of them is no companion. */
      const apart = () => marked().filter(({ command }) => command.startsWith('/usr/bin/perl'));
      const assertApart = ({ audited }: TestRuntime): void => {
        const places = audited.map(
          (entry) => entry.kind === 'decision' && entry.session && entry.sandbox.where,
        );
        assert.ok(places.includes('outside'), JSON.stringify(audited));
      };
      const sleeps = `perl -e '$SIG{TERM} = "IGNORE"; $| = 1; print "up\n"; sleep 1000'`;

      it('get every byte of their input and their output comes whole', async () => {
        const { test } = await setUp(perlOutside);
        const text = await run(test, [
          'head -c 10485760 /dev/urandom > big',
          `perl -e 'print while <STDIN>' < big | cmp big - && echo "same through a pipe"`,
          `cat big | perl -e 'print STDERR $_ while <STDIN>' 2> copy && cmp big copy && echo "same in a file"`,
        ]);
        assert.match(text, /same through a pipe\nsame in a file/);
        assertApart(test);
      });

      it('leave the input that they do not read to the script', async () => {
        const { test } = await setUp(perlOutside);
        const text = await run(test, [
          'seq 1 3 > list',
          `while read -r line; do perl -e 'print "apart\n"'; echo "line $line"; done < list`,
          `printf 'rest' | { perl -e '1'; cat; }`,
        ]);
        assert.match(text, /apart\nline 1\napart\nline 2\napart\nline 3\nrest/);
        assertApart(test);
      });

      it('end the same way in the script: with an exit code, or by a signal', async () => {
        const { test } = await setUp(perlOutside);
        const text = await run(test, [
          `perl -e 'exit 7'; echo "code $?"`,
          `perl -e 'kill TERM => $$; sleep 9'; echo "code $?"`,
          `perl -e 'exit 255'; echo "code $?"`,
          `perl -e 'print STDERR "to stderr\n"' 2>&1 >/dev/null`,
        ]);
        assert.match(text, /code 7\n[^]*code 143\n[^]*code 255\nto stderr/);
        assertApart(test);
      });

      it('get the signals that the script sends', async () => {
        const { test } = await setUp(perlOutside);
        const text = await run(test, [
          `perl -e '$SIG{USR1} = sub { print "got USR1\n"; exit 3 }; open F, ">ready"; close F; sleep 1000' &`,
          'while [ ! -e ready ]; do sleep 0.05; done',
          'kill -USR1 $!; wait $!; echo "code $?"',
        ]);
        assert.match(text, /got USR1\ncode 3/);
        assertApart(test);
      });

      it('end with Ctrl-C in a terminal, which they see as one', async () => {
        const { test } = await setUp(perlOutside);
        const cmd = await script(test, `perl -e 'exit 1 unless -t STDIN && -t STDOUT; sleep 1000'`);
        const session = await test.open(`trap : INT; ${cmd}; echo "code $?"; sleep 30`, { login: false });
        await waitFor('the part', () => apart().length > 0);
        const text = await test.type(session, '\u0003', { yield_time_ms: 2_000 });
        await waitFor('the end of the part', () => apart().length === 0);
        assert.match(text, /code 130/);
        await session.terminate();
      });

      it('run many at once', async () => {
        const { test } = await setUp(perlOutside);
        const text = await run(test, [
          `for i in $(seq 1 12); do perl -e 'select undef, undef, undef, 0.3; print "$ARGV[0]\n"' "$i" & done; wait`,
        ]);
        const numbers = [...text.matchAll(/^(\d+)$/gm)].map(([, number]) => Number(number));
        assert.deepEqual(
          numbers.sort((a, b) => a - b),
          Array.from({ length: 12 }, (_, index) => index + 1),
        );
      });

      it('are killed with their place in the script, whatever they ignore', async () => {
        const { test } = await setUp(perlOutside);
        const answer = run(test, [
          `${sleeps} > out &`,
          'while [ ! -s out ]; do sleep 0.05; done',
          'sleep 1; kill -KILL $!; wait; echo over; sleep 20',
        ]);
        const [part] = await waitFor('the part', () => (apart().length > 0 ? apart() : undefined));
        assert.ok(part);
        await assertEnded([part]);
        await test.runtime.sessions.list()[0]?.terminate();
        assert.match(await answer, /over/);
      });

      it('are killed with the session', async () => {
        const { test } = await setUp(perlOutside);
        const answer = run(test, [sleeps]);
        const parts = await waitFor('the part', () => (apart().length > 0 ? apart() : undefined));
        await test.runtime.sessions.list()[0]?.terminate();
        await assertEnded(parts);
        await answer;
      });

      it('are killed with the runtime', async () => {
        const project = join(import.meta.dirname, '../..');
        const module = `
        import { createTestRuntime } from '${project}/test/harness/testRuntime.ts';
        import { createLocalPrograms } from '${project}/test/harness/localEnvironment.ts';
        const openBackend = async () => {
          const programs = await createLocalPrograms();
          console.log(programs.runtimeFolder);
          return programs.open().backend;
        };
        const backend = ${runner.ownBackend};
        const rules = { ...${JSON.stringify({ ...perlOutside.rules, hostExecutables: [] })}, hostExecutables: new Map() };
        const test = await createTestRuntime(${JSON.stringify(perlOutside.user)}, process.env, { rules, ...(backend && { backend }) });
        console.log(test.root);
        await test.call('exec_command', { cmd: ${JSON.stringify(`eval ${JSON.stringify(sleeps).replaceAll('$', '\\$')}`)}, login: false, yield_time_ms: 30_000 });`;
        const killed = spawn(process.execPath, ['--input-type=module', '--eval', module], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        let printed = '';
        killed.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
        const parts = await waitFor('the part', () => (apart().length > 0 ? apart() : undefined));
        killed.kill('SIGKILL');
        await assertEnded(parts);
        const [root = '', folder = ''] = printed.trim().split('\n').reverse();
        await runner.end(folder);
        await rm(root, { recursive: true, force: true });
      });
    });
  });
}
