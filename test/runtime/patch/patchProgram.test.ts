import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestRuntime, helperFolder } from '../../harness/testRuntime.ts';
import type { TestRuntime } from '../../harness/testRuntime.ts';
import { waitFor } from '../../harness/waitFor.ts';

const patch = '*** Begin Patch\n*** Update File: f.txt\n@@\n-b\n+B\n*** End Patch\n';

describe('apply_patch on the search path of every session', () => {
  let runtime: TestRuntime;
  const path = (name: string) => join(runtime.root, name);

  async function start(...options: Parameters<typeof createTestRuntime>): Promise<void> {
    runtime = await createTestRuntime(...options);
    writeFileSync(path('f.txt'), 'a\nb\nc\n');
    writeFileSync(path('p.patch'), patch);
    writeFileSync(path('edit.sh'), `#!/bin/sh\nset -e\ncat p.patch | applypatch\necho done\n`, {
      mode: 0o755,
    });
  }

  async function run(cmd: string, input: object = {}): Promise<string> {
    return (await runtime.call('exec_command', { cmd, ...input })).text;
  }

  afterEach(() => runtime.dispose());

  for (const login of [true, false]) {
    describe(login ? 'of a login shell' : 'of an ordinary shell', () => {
      beforeEach(() => start());

      for (const [what, cmd] of [
        ['from a pipe', 'cat p.patch | apply_patch'],
        ['from a file', 'apply_patch < p.patch'],
        ['from an argument', 'apply_patch "$(cat p.patch)"'],
        ['from a script that calls it', './edit.sh'],
        [
          'from another program',
          `"$CORDON_NODE" -e 'child_process.execFileSync("apply_patch", [fs.readFileSync("p.patch", "utf8")], { stdio: "inherit" })'`,
        ],
      ] as const) {
        it(`applies a patch ${what}`, async () => {
          const text = await run(cmd, { login });
          assert.match(
            text,
            /Process exited with code 0\n[^]*Success\. Updated the following files:\nM f\.txt\n/,
          );
          assert.equal(readFileSync(path('f.txt'), 'utf8'), 'a\nB\nc\n');
        });
      }

      it('is found first, under both names', async () => {
        const text = await run('command -v apply_patch applypatch', { login });
        assert.match(text, new RegExp(`Output:\n${helperFolder}/apply_patch\n${helperFolder}/applypatch\n`));
      });

      it('cannot write where the sandbox does not let it', async () => {
        const text = await run(
          `printf '%s\\n' '*** Begin Patch' '*** Add File: /usr/share/cordon-made' '+x' '*** End Patch' | apply_patch`,
          { login },
        );
        assert.match(text, /Process exited with code 1\n[^]*Failed to write file \/usr\/share\/cordon-made/);
        assert.equal(existsSync('/usr/share/cordon-made'), false);
      });

      it('leaves line numbers in messages of the shell as they are', async () => {
        assert.match(await run('\nno-such-program', { login }), /line 2: no-such-program: command not found/);
      });

      it('is there for sh, too', async () => {
        const text = await run('apply_patch < p.patch; command -v apply_patch', { login, shell: '/bin/sh' });
        assert.match(text, new RegExp(`M f\\.txt\n${helperFolder}/apply_patch\n`));
      });
    });
  }

  it('works in the terminal of a person', async () => {
    await start();
    const started = await runtime.runtime.runForPerson({
      root: { name: 'root', path: runtime.root },
      cwd: runtime.root,
      commandLine: 'apply_patch < p.patch',
    });
    assert.ok(started.ok);
    await waitFor('the end', () => started.value.isClosed);
    assert.equal(readFileSync(path('f.txt'), 'utf8'), 'a\nB\nc\n');
  });

  it('works without a sandbox and without a network', async () => {
    await start({ mode: 'danger-full-access' });
    assert.match(await run('cat p.patch | apply_patch'), /M f\.txt/);
  });

  it('writes nothing under a read-only policy', async () => {
    await start({ mode: 'read-only' });
    assert.match(
      await run('cat p.patch | apply_patch'),
      /Process exited with code 1\n[^]*Failed to write file/,
    );
    assert.equal(readFileSync(path('f.txt'), 'utf8'), 'a\nb\nc\n');
  });

  it('comes with a search path of the shell where the policy inherits none', async () => {
    await start({ environment: { inherit: 'none' } });
    assert.match(await run('apply_patch < p.patch', { login: true }), /M f\.txt/);
  });

  it('adds no empty entry, which would be the current folder, to the search path', async () => {
    await start({}, { PATH: '' });
    const text = await run('echo "[$PATH]"', { login: false });
    assert.match(text, new RegExp(`\\[${helperFolder}\\]`));
  });
});
