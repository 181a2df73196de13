import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { silentLog } from '../../src/base/log.ts';
import { AuditLog } from '../../src/runtime/audit/auditLog.ts';
import { startPtyChild } from '../../src/terminal/ptyChild.ts';
import { decisionOn, endOf } from '../harness/auditEvents.ts';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import type { TemporaryFolder } from '../harness/temporaryFolder.ts';
import { waitFor } from '../harness/waitFor.ts';

const cli = join(import.meta.dirname, '../../dist/cli.js');

describe('cordon', () => {
  let folder: TemporaryFolder;
  beforeEach(async () => {
    folder = await createTemporaryFolder('cli');
  });
  afterEach(() => folder.dispose());

  function cordon(
    args: readonly string[],
    input: string | Buffer = '',
    cwd = folder.path,
    env: NodeJS.ProcessEnv = process.env,
  ) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], {
      ...{ cwd, input, env },
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  }

  describe('audit', () => {
    beforeEach(async () => {
      const log = new AuditLog({ folder: join(folder.path, 'log'), environment: {}, log: silentLog });
      log.record(decisionOn('npm test', { root: folder.path }));
      log.record(decisionOn('npm publish', { decision: 'refuse', by: 'rule' }));
      log.record(endOf('npm test', { root: folder.path, denials: [{ clause: 'files', path: '/x' }] }));
      await log.dispose();
    });
    const audit = (...args: readonly string[]) => cordon(['audit', '--folder', 'log', ...args]);

    it('prints what fits the filters, newest first', () => {
      const commands = (...args: readonly string[]) =>
        audit('--json', ...args)
          .stdout.trim()
          .split('\n')
          .map((line) => JSON.parse(line) as { kind: string; command?: string })
          .map(({ kind, command }) => `${kind} ${command ?? ''}`.trim());
      assert.deepEqual(commands(), ['end npm test', 'decision npm publish', 'decision npm test', 'start']);
      assert.deepEqual(commands('--root', '.'), ['end npm test', 'decision npm test']);
      assert.deepEqual(commands('--decision', 'refused'), ['decision npm publish']);
      assert.deepEqual(commands('--decision', 'denied'), ['end npm test']);
      assert.deepEqual(commands('--command', 'publish'), ['decision npm publish']);
    });

    it('prints lines for people, and says what could not be read', () => {
      const [name = ''] = readdirSync(join(folder.path, 'log'));
      appendFileSync(join(folder.path, 'log', name), '{"version":1,');
      const { status, stdout, stderr } = audit('--decision', 'refused');
      assert.match(stdout, /^\S+ \S+  refused   npm publish\n +by a rule · .*\n$/);
      assert.equal(stderr, 'cordon: 1 lines (13 bytes) could not be read.\n');
      assert.equal(status, 0);
    });

    it('refuses a decision that there is not', () => {
      const { status, stderr } = audit('--decision', 'maybe');
      assert.equal(status, 2);
      assert.match(stderr, /--decision maybe: must be one of allowed, asked, refused, denied/);
    });
  });

  describe('sandbox', () => {
    it('passes stdio and the exit code through', () => {
      const { status, stdout, stderr } = cordon(
        ['sandbox', '--', 'sh', '-c', 'cat; echo err >&2; exit 9'],
        'in',
      );
      assert.deepEqual({ status, stdout, stderr }, { status: 9, stdout: 'in', stderr: 'err\n' });
    });

    it('confines to the root and the mode', () => {
      assert.equal(cordon(['sandbox', '--root', '.', '--', 'touch', 'made']).status, 0);
      assert.ok(existsSync(join(folder.path, 'made')));
      const denied = cordon(['sandbox', '--mode', 'read-only', '--', 'touch', 'other']);
      assert.equal(denied.status, 1);
      assert.match(denied.stderr, /Read-only file system/);
      assert.notEqual(cordon(['sandbox', '--', 'touch', '/usr/share/cordon-denied']).status, 0);
      assert.equal(
        cordon(['sandbox', '--mode', 'danger-full-access', '--', 'sh', '-c', 'echo $CORDON_SANDBOX']).stdout,
        '\n',
      );
    });

    it('gives further writable folders on request', async () => {
      const other = await createTemporaryFolder('other');
      const args = ['sandbox', '--writable', other.path, '--', 'touch', join(other.path, 'made')];
      assert.equal(cordon(args).status, 0);
      assert.ok(existsSync(join(other.path, 'made')));
      await other.dispose();
    });

    it('takes rules for paths, for hosts and for git, in the words of the settings', async () => {
      const other = await createTemporaryFolder('other');
      const flags = ['--file', `${other.path}=write`, '--host', 'example.org', '--git', 'commands'];
      assert.equal(cordon(['sandbox', ...flags, '--', 'touch', join(other.path, 'made')]).status, 0);
      assert.ok(existsSync(join(other.path, 'made')));
      await other.dispose();
      const wrong: readonly (readonly [readonly string[], RegExp])[] = [
        [['--file', 'src'], /--file src: must be PATH=ACCESS/],
        [['--file', 'src=closed'], /^cordon: --file: .*"closed".*one of "none", "read", "write"/],
        [['--file', '../x=none'], /^cordon: --file: .*leads out of the root/],
        [['--file', '**/*.js=read'], /^cordon: --file: .*globs can only hide/],
        [['--host', 'https://example.org'], /^cordon: --host: .*without scheme/],
        [['--host', 'example.org=maybe'], /^cordon: --host: .*"maybe"/],
        [['--git', 'all'], /^cordon: --git: .*"commands"/],
        [['--caches', 'mine'], /^cordon: --caches: .*"private"/],
      ];
      for (const [flags, message] of wrong) {
        const { status, stderr } = cordon(['sandbox', ...flags, '--', 'true']);
        assert.equal(status, 2, flags.join(' '));
        assert.match(stderr, message);
      }
    });

    it('takes / as a writable folder, and still protects what later runs trust', () => {
      const script =
        'touch /usr/share/cordon-made && rm /usr/share/cordon-made && chmod 755 "$(command -v bwrap)"';
      const { status, stderr } = cordon(['sandbox', '--writable', '/', '--', 'sh', '-c', script]);
      assert.equal(status, 1);
      assert.match(stderr, /bwrap.*Read-only file system/);
    });

    it('refuses a folder that the sandbox does not show, with what would help', () => {
      const { status, stderr } = cordon(['sandbox', '--root', '/usr/share', '--', 'pwd']);
      assert.equal(status, 125);
      assert.match(stderr, /not visible in the sandbox[^]*cordon\.sandbox\.(writableRoots|tmp)/);
    });

    it('has a folder for temporary files also where those of the machine are in no sandbox', () => {
      const elsewhere = mkdtempSync('/dev/shm/cordon-cli-');
      try {
        const env = { ...process.env, TMPDIR: elsewhere, XDG_RUNTIME_DIR: undefined };
        for (const network of ['off', 'allow-list', 'on']) {
          for (const tmp of ['private', 'shared']) {
            const { status, stdout, stderr } = cordon(
              [
                'sandbox',
                '--network',
                network,
                '--tmp',
                tmp,
                '--',
                'sh',
                '-c',
                'f=$(mktemp) && echo $f && rm $f',
              ],
              ...(['', folder.path, env] as const),
            );
            assert.match(stdout, /^\/tmp\/tmp\./, `${network} ${tmp}: ${stderr}`);
            assert.equal(status, 0);
          }
        }
      } finally {
        rmSync(elsewhere, { recursive: true });
      }
    });

    it('leaves the folder for temporary files that a command may write', () => {
      const own = join(folder.path, 'own');
      mkdirSync(own);
      const { stdout } = cordon(
        ['sandbox', '--tmp', 'shared', '--', 'sh', '-c', 'echo $TMPDIR'],
        ...(['', folder.path, { ...process.env, TMPDIR: own }] as const),
      );
      assert.equal(stdout, `${own}\n`);
    });

    it('passes signals to the command, whose traps run', async () => {
      const script = `trap 'echo trapped; exit 5' TERM; echo ready; sleep 60 & wait`;
      const child = spawn(process.execPath, [cli, 'sandbox', '--', 'bash', '-c', script], {
        cwd: folder.path,
      });
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
      await waitFor('ready', () => output.includes('ready'));
      const exit = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      assert.equal(await exit, 5);
      assert.match(output, /trapped/);
    });

    it('reports 128 + n for a signal, 127 and 126 for what cannot run', () => {
      assert.equal(cordon(['sandbox', '--', 'sh', '-c', 'kill -USR1 $$']).status, 138);
      assert.equal(cordon(['sandbox', '--', 'no-such-program']).status, 127);
      assert.equal(cordon(['sandbox', '--mode', 'danger-full-access', '--', 'no-such-program']).status, 127);
      assert.equal(cordon(['sandbox', '--', '/etc/passwd']).status, 126);
    });

    it('works on a terminal: size, keys, Ctrl-C to the command alone', async () => {
      const pty = await startPtyChild({
        argv: [
          process.execPath,
          cli,
          'sandbox',
          '--',
          'bash',
          '-c',
          'stty size; trap "echo caught" INT; read line; echo "got $line"; exit 4',
        ],
        cwd: folder.path,
        env: { PATH: process.env['PATH'] ?? '', HOME: '/usr/share', TERM: 'xterm-256color' },
        size: { columns: 91, rows: 33 },
      });
      let output = '';
      pty.onOutput(({ chunk }) => (output += Buffer.from(chunk).toString()));
      const exit = new Promise<number>((resolve) => pty.onExit(({ exitCode }) => resolve(exitCode)));
      await waitFor('the size', () => output.includes('33 91'), { describe: () => output });
      pty.write(Buffer.from('\u0003'));
      await waitFor('the trap', () => output.includes('caught'), { describe: () => output });
      pty.write(Buffer.from('typed\r'));
      assert.equal(await exit, 4);
      assert.match(output, /got typed/);
    });

    it('says what is wrong with the command line', () => {
      for (const [args, pattern] of [
        [['sandbox'], /after '--'/],
        [['sandbox', '--mode', 'open', '--', 'ls'], /--mode: .*open/],
        [['sandbox', '--root', '/no/folder', '--', 'ls'], /--root \/no\/folder/],
        [['sandbox', '--color', '--', 'ls'], /--color/],
        [['unknown'], /'unknown' is not a command/],
      ] as const) {
        const { status, stderr } = cordon(args);
        assert.equal(status, 2);
        assert.match(stderr, pattern);
      }
      assert.match(cordon(['--help']).stdout, /cordon sandbox/);
    });
  });

  describe('apply-patch', () => {
    const patch = '*** Begin Patch\n*** Add File: made.txt\n+x\n*** End Patch\n';
    const made = () => existsSync(join(folder.path, 'made.txt'));

    it('takes the patch from stdin or from the argument, names relative to the current folder', () => {
      const applied = {
        status: 0,
        stdout: 'Success. Updated the following files:\nA made.txt\n',
        stderr: '',
      };
      assert.deepEqual(cordon(['apply-patch'], patch), applied);
      assert.ok(made());
      rmSync(join(folder.path, 'made.txt'));
      assert.deepEqual(cordon(['apply-patch', patch], 'ignored'), applied);
      assert.ok(made());
    });

    it('puts notes and hints on stderr, below the text of the reference', () => {
      writeFileSync(join(folder.path, 'made.txt'), 'old\n');
      const { stdout, stderr } = cordon(['apply-patch'], patch);
      assert.equal(stdout, 'Success. Updated the following files:\nA made.txt\n');
      assert.match(stderr, /^Note: made\.txt existed and was overwritten/);
      const missing = cordon(['apply-patch'], patch.replace('Add', 'Update').replace('+x', '-y'));
      assert.equal(missing.status, 1);
      assert.equal(missing.stdout, '');
      assert.match(missing.stderr, /^Failed to find expected lines in .*made\.txt:\ny\n./);
    });

    it('tells a wrong call, an empty input and one that is not UTF-8 as the reference does', () => {
      const usage = "Usage: apply_patch 'PATCH'\n       echo 'PATCH' | apply_patch\n";
      assert.deepEqual(cordon(['apply-patch']), { status: 2, stdout: '', stderr: usage });
      assert.deepEqual(cordon(['apply-patch', patch, 'more']), {
        status: 2,
        stdout: '',
        stderr: 'Error: apply_patch accepts exactly one argument.\n',
      });
      const notUtf8 = Buffer.concat([Buffer.from(patch), Buffer.from([0xff])]);
      assert.deepEqual(cordon(['apply-patch'], notUtf8), {
        status: 1,
        stdout: '',
        stderr: 'Error: Failed to read PATCH from stdin.\nstream did not contain valid UTF-8\n',
      });
      assert.equal(made(), false);
    });

    it('loads neither schemas nor terminals nor grammars', () => {
      const program = readFileSync(join(cli, '../cli/applyPatch.js'), 'utf8');
      const dispatcher = readFileSync(cli, 'utf8');
      for (const word of ['node-pty', 'zod', 'tree-sitter', 'xterm']) {
        assert.ok(!program.includes(`${word}/`) && !dispatcher.includes(`${word}/`), word);
      }
      assert.ok(dispatcher.length < 50_000 && program.length < 300_000, 'it starts as fast as it is small');
    });
  });

  describe('exec', () => {
    it('prints the answer of the tool and exits as the command did', () => {
      const { status, stdout } = cordon(['exec', 'echo hi; exit 6']);
      assert.equal(status, 6);
      assert.match(stdout, /^Chunk ID: [^]*Process exited with code 6\n[^]*hi\n/);
    });

    it('takes a patch call for one, and lets commands find the program', () => {
      const patch = '*** Begin Patch\n*** Add File: n\n+x\n*** End Patch';
      const intercepted = cordon(['exec', `apply_patch <<'EOF'\n${patch}\nEOF`]);
      assert.match(intercepted.stdout, /^Wall time: 0\.0000 seconds\nOutput:\nExit code: 0\n[^]*A n\n/);
      assert.equal(intercepted.status, 0);
      const run = cordon(['exec', `command -v apply_patch; apply_patch '${patch}'`]);
      assert.match(run.stdout, /dist\/bin\/apply_patch\nSuccess\./);
      const refused = cordon([
        'exec',
        '--mode',
        'read-only',
        `apply_patch <<'EOF'\n${patch.replace('+x', '+y')}\nEOF`,
      ]);
      assert.match(refused.stdout, /^patch rejected/);
      assert.equal(refused.status, 1);
      const confined = cordon(['sandbox', '--', 'apply_patch', patch.replace(': n', ': m')]);
      assert.deepEqual([confined.status, existsSync(join(folder.path, 'm'))], [0, true]);
    });

    it('serves tool calls line by line', () => {
      const lines = [
        { tool: 'exec_command', input: { cmd: 'cat', tty: true, yield_time_ms: 250 } },
        { tool: 'list_sessions' },
        { tool: 'apply_patch', input: { input: '*** Begin Patch\n*** Add File: n\n+x\n*** End Patch' } },
        { tool: 'nothing' },
        { tool: 'sleep', input: { duration_ms: 0 } },
      ].map((line) => JSON.stringify(line));
      const { status, stdout } = cordon(['exec', '--tools'], [...lines, 'no json'].join('\n'));
      const answers = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { text: string; isError: boolean });
      assert.equal(status, 0);
      assert.match(answers[0]?.text ?? '', /running with session ID/);
      assert.match(answers[1]?.text ?? '', /running for \d+ s, terminal/);
      assert.match(answers[2]?.text ?? '', /^Exit code: 0\n[^]*A n\n$/);
      assert.ok(existsSync(join(folder.path, 'n')));
      assert.match(answers[3]?.text ?? '', /tool "nothing" does not exist/);
      assert.match(answers[4]?.text ?? '', /duration_ms \(0\)/);
      assert.match(answers[5]?.text ?? '', /not a tool call/);
    });
  });
});
