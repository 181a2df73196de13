import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import type { TemporaryFolder } from '../harness/temporaryFolder.ts';
import { useEditor } from './harness.ts';

const question = 'Command to run in the sandbox';

describe('a real project under the sandbox', () => {
  let folder: TemporaryFolder;
  let server: Server;
  const requests: (string | undefined)[] = [];

  const editor = useEditor(async () => {
    folder = await createTemporaryFolder('real');
    return { workspace: installMinimist(folder.path) };
  });

  before('start a server on loopback', async () => {
    server = createServer((request, response) => {
      requests.push(request.url);
      response.end('reached the host\n');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    server?.close();
    await folder?.dispose();
  });

  it('passes its own tests, with their output in the terminal', async () => {
    const { runCommand, answer, waitForTerminal, screenshot } = editor();
    await runCommand('Cordon: Run Sandboxed…');
    await answer("node_modules/.bin/tape 'test/*.js'", question);
    const shown = await waitForTerminal(/# pass\s+\d+[^]*exited with code 0/, 60_000);
    assert.match(shown, /# ok/);
    await screenshot('real-project');
  });

  it('cannot reach a loopback server of the machine while the network is off', async () => {
    const { runCommand, answer, waitForTerminal } = editor();
    const { port } = server.address() as AddressInfo;
    await runCommand('Cordon: Run Sandboxed…');
    await answer(`curl -sS http://127.0.0.1:${port}/from-the-sandbox`, question);
    const shown = await waitForTerminal(/exited with code 7/);
    assert.match(shown, /network is off/);
    assert.deepEqual(requests, []);
  });

  it('reaches it when the person turns the network on for this root', async () => {
    const { runCommand, answer, waitForTerminal, statusBarItem, pick } = editor();
    const { port } = server.address() as AddressInfo;
    await statusBarItem('cordon').click();
    await pick(/network on/i);
    await statusBarItem('cordon')
      .getByText(/network on/i)
      .waitFor();
    await runCommand('Cordon: Run Sandboxed…');
    await answer(`curl -sS http://127.0.0.1:${port}/allowed`, question);
    await waitForTerminal(/reached the host[^]*exited with code 0/);
    assert.deepEqual(requests, ['/allowed']);
  });
});

/** The published package with its own tests, and the test runner that they need. */
function installMinimist(parent: string): string {
  // Options for this process are not for npm.
  const env = { ...process.env, NODE_OPTIONS: '' };
  const run = (args: readonly string[], cwd: string): string =>
    execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], env });
  const [archive] = run(['pack', '--silent', 'minimist@1.2.8'], parent).trim().split('\n').slice(-1);
  execFileSync('tar', ['xzf', archive as string], { cwd: parent });
  const workspace = join(parent, 'package');
  // Its linters and coverage tools take no part in the tests.
  run(['pkg', 'delete', 'devDependencies'], workspace);
  run(['install', '--no-save', '--ignore-scripts', '--no-audit', 'tape@5.9.0'], workspace);
  return workspace;
}
