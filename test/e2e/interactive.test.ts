import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import type { TemporaryFolder } from '../harness/temporaryFolder.ts';
import { waitFor } from '../harness/waitFor.ts';
import { useEditor } from './harness.ts';

describe('interactive programs in the terminal of a session', () => {
  let folder: TemporaryFolder;
  const editor = useEditor(async () => {
    folder = await createTemporaryFolder('interactive');
    execFileSync('bash', ['-ec', setUpRepository], { cwd: folder.path });
    const settings = { 'cordon.sandbox.writableRoots': [join(folder.path, '.git')] };
    return { workspace: folder.path, userSettings: settings, machineSettings: settings };
  });
  after(() => folder.dispose());

  async function run(command: string): Promise<void> {
    await editor().runCommand('Cordon: Run Sandboxed…');
    await editor().answer(command, 'Command to run in the sandbox');
  }

  it('edits a file in vim', async () => {
    const { type, press, waitForTerminal, screenshot } = editor();
    await run('vim -u NONE -N story.txt');
    await waitForTerminal(/story\.txt.*\[New\]/);
    await type('iOnce upon a time');
    await press('Escape');
    await waitForTerminal(/^Once upon a time$/m);
    await screenshot('vim');
    await type(':wq');
    await press('Enter');
    await waitForTerminal(/exited with code 0/);
    assert.equal(await readFile(join(folder.path, 'story.txt'), 'utf8'), 'Once upon a time\n');
  });

  it('shows top, which redraws, and quits it with a key', async () => {
    const { press, waitForTerminal } = editor();
    await run('top -d 0.5');
    await waitForTerminal(/Tasks:.*total/);
    await press('q');
    await waitForTerminal(/exited with code 0/);
  });

  it('talks to a python REPL; Ctrl-C interrupts the computation only', async () => {
    const { type, press, waitForTerminal } = editor();
    await run('python3 -q');
    await waitForTerminal(/^>>>$/m);
    await type('while True: pass');
    await press('Enter', 'Enter', 'Control+C');
    await waitForTerminal(/KeyboardInterrupt/);
    await type('6 * 7');
    await press('Enter');
    await waitForTerminal(/^42$/m);
    await press('Control+D');
    await waitForTerminal(/exited with code 0/);
  });

  it('rebases interactively in a repository whose .git the person made writable', async () => {
    const { type, press, waitForTerminal } = editor();
    await run('EDITOR="vim -u NONE -N" git rebase -i --root');
    await waitForTerminal(/^pick [0-9a-f]+ (# )?commit 1$/m);
    await type(':2s/^pick/squash/');
    await press('Enter');
    await waitForTerminal(/^squash [0-9a-f]+/m);
    await type(':wq');
    await press('Enter');
    await waitForTerminal(/combination of 2 commits/);
    await type(':wq');
    await press('Enter');
    await waitForTerminal(/Successfully rebased[^]*exited with code 0/, 20_000);
    const log = execFileSync('git', ['log', '--format=%s'], { cwd: folder.path, encoding: 'utf8' });
    assert.equal(log, 'commit 3\ncommit 1\n');
  });

  it('answers the prompts of npm init', async () => {
    const { type, press, waitForTerminal } = editor();
    await run('npm init');
    await waitForTerminal(/package name:/, 30_000);
    await type('typed-by-hand');
    for (const prompt of [/version:/, /description:/, /entry point:/, /test command:/, /git repository:/, /keywords:/, /author:/, /license:/]) {
      await press('Enter');
      await waitForTerminal(prompt);
    }
    await press('Enter');
    await waitFor('the summary', async () => {
      const shown = await editor().terminalText();
      if (/Is this OK\?/.test(shown)) {
        return true;
      }
      if (/type:/.test(shown)) {
        await press('Enter');
      }
      return false;
    });
    await press('Enter');
    await waitForTerminal(/exited with code 0/, 20_000);
    const written = JSON.parse(await readFile(join(folder.path, 'package.json'), 'utf8')) as { name: string };
    assert.equal(written.name, 'typed-by-hand');
  });
});

const setUpRepository = `
  git init -q .
  git config user.email author@example.com
  git config user.name Author
  for n in 1 2 3; do echo $n > file$n; git add file$n; git commit -qm "commit $n"; done`;
