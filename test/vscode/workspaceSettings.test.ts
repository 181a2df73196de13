import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { waitFor } from '../harness/waitFor.ts';
import { exec, rootFolder } from './callTool.ts';

/** The text of the page that `Cordon: Show Effective Policy` opens; an open one follows changes a moment later. */
async function effectivePolicy(isRight: (text: string) => boolean): Promise<string> {
  await vscode.commands.executeCommand('cordon.showEffectivePolicy');
  const document = vscode.window.activeTextEditor?.document;
  assert.equal(document?.uri.scheme, 'cordon-page');
  const text = (): string => document.getText();
  return waitFor('the page of the policy', async () => (isRight(text()) ? text() : undefined), {
    describe: async () => text(),
  });
}

describe('settings that a workspace brings along', () => {
  const file = (): string => join(rootFolder().uri.fsPath, '.vscode', 'settings.json');

  const setWorkspace = async (settings: Readonly<Record<string, unknown>>): Promise<void> => {
    const marker = Date.now();
    const applied = new Promise<void>((resolve) => {
      const subscription = vscode.workspace.onDidChangeConfiguration(() => {
        if (vscode.workspace.getConfiguration('cordonTest').get('marker') === marker) {
          subscription.dispose();
          resolve();
        }
      });
    });
    await mkdir(join(file(), '..'), { recursive: true });
    await writeFile(file(), JSON.stringify({ ...settings, 'cordonTest.marker': marker }));
    await applied;
  };

  afterEach(async () => {
    await setWorkspace({});
    await rm(file());
  });

  it('cannot remove the sandbox', async () => {
    await setWorkspace({ 'cordon.sandbox.mode': 'danger-full-access' });
    assert.match(await exec('echo "[$CORDON_SANDBOX]"'), /\[workspace-write\]/);
  });

  it('cannot turn the network on', async () => {
    await setWorkspace({ 'cordon.sandbox.network': 'on' });
    assert.match(await exec('ls /sys/class/net; echo "[$CORDON_SANDBOX_NETWORK_DISABLED]"'), /\[1\]/);
  });

  it('cannot share the temporary folder of the machine', async () => {
    await setWorkspace({ 'cordon.sandbox.tmp': 'shared' });
    const name = `cordon-test-tmp-${process.pid}`;
    await exec(`touch /tmp/${name}`);
    assert.equal(existsSync(`/tmp/${name}`), false);
  });

  it('cannot add writable folders', async () => {
    const outside = await mkdtemp(join(homedir(), '.cordon-test-'));
    try {
      await setWorkspace({ 'cordon.sandbox.writableRoots': [outside] });
      assert.match(await exec(`touch ${outside}/x`), /Process exited with code [^0]/);
      assert.equal(existsSync(join(outside, 'x')), false);
    } finally {
      await rm(outside, { recursive: true });
    }
  });

  it('cannot decide about the environment', async () => {
    await setWorkspace({
      'cordon.sandbox.environment.inherit': 'all',
      'cordon.sandbox.environment.set': { CORDON_TEST_SET: 'by-workspace' },
    });
    assert.match(await exec('echo "[$CORDON_TEST_SET][$CORDON_TEST_RESULTS]"'), /\[\]\[\]/);
  });

  it('cannot choose or define profiles', async () => {
    await setWorkspace({
      'cordon.sandbox.profile': 'mine',
      'cordon.sandbox.profiles': { mine: { mode: 'danger-full-access' } },
    });
    assert.match(await exec('echo "[$CORDON_SANDBOX]"'), /\[workspace-write\]/);
  });

  it('cannot choose or define environments', async () => {
    await setWorkspace({
      'cordon.environment': 'elsewhere',
      'cordon.environments': { elsewhere: { type: 'url', url: 'ws://127.0.0.1:1', folder: '/' } },
    });
    assert.match(await exec('pwd'), new RegExp(`^${rootFolder().uri.fsPath}$`, 'm'));
  });

  it('cannot open files, sockets or caches, and a wrong value of a machine setting does not count', async () => {
    await setWorkspace({
      'cordon.sandbox.files': { '/usr': 'write' },
      'cordon.sandbox.sockets': 3,
      'cordon.sandbox.caches': 'shared',
      'cordon.sandbox.git': 'writable',
    });
    const page = await effectivePolicy((text) => text.includes('## Sockets'));
    assert.match(page, /\| read +\| \/ /);
    assert.doesNotMatch(page, /\| write +\| \/usr /);
    assert.match(page, /none of the machine’s services/);
    assert.doesNotMatch(page, /narrowed by the workspace/);
  });

  it('can hide and protect files, and the page says who did', async () => {
    await setWorkspace({
      'cordon.sandbox.files': { 'src/index.js': 'read', '**/.env*': 'none' },
      'cordon.sandbox.limits.processes': 50,
    });
    const page = await effectivePolicy((text) => text.includes('| 50 '));
    assert.match(page, /\| read +\| \S+\/src\/index\.js +\| .*\| narrowed by the workspace +\|/);
    assert.match(page, /\| \*\*\/\.env\* +\| \S+ +\| narrowed by the workspace +\|/);
    await setWorkspace({});
    await effectivePolicy((text) => !text.includes('src/index.js'));
  });

  it('can make it read-only', async () => {
    await setWorkspace({ 'cordon.sandbox.mode': 'read-only' });
    assert.match(await exec('echo "[$CORDON_SANDBOX]"; touch new-file'), /\[read-only\]/);
    assert.equal(existsSync(join(rootFolder().uri.fsPath, 'new-file')), false);
  });

  for (const [name, value] of Object.entries({
    'cordon.sandbox.files': { '../outside': 'none' },
    'cordon.sandbox.hosts': { 'https://example.org': 'deny' },
    'cordon.sandbox.git': 'sometimes',
    'cordon.sandbox.caches': true,
    'cordon.sandbox.limits.memoryMiB': -1,
  })) {
    it(`stop everything when ${name} is invalid`, async () => {
      await setWorkspace({ [name]: value });
      await assert.rejects(exec('echo ran'), (error: Error) => error.message.includes(name));
      await effectivePolicy((text) => text.includes('No command runs here') && text.includes(name));
    });
  }

  it('stop everything when they are invalid, instead of falling back', async () => {
    await setWorkspace({ 'cordon.sandbox.mode': 'very-safe' });
    await assert.rejects(exec('echo ran'), /cordon\.sandbox\.mode.*very-safe/s);
  });
});
