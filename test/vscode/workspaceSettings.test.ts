import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { exec, rootFolder } from './callTool.ts';

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

  it('can make it read-only', async () => {
    await setWorkspace({ 'cordon.sandbox.mode': 'read-only' });
    assert.match(await exec('echo "[$CORDON_SANDBOX]"; touch new-file'), /\[read-only\]/);
    assert.equal(existsSync(join(rootFolder().uri.fsPath, 'new-file')), false);
  });

  it('stop everything when they are invalid, instead of falling back', async () => {
    await setWorkspace({ 'cordon.sandbox.mode': 'very-safe' });
    await assert.rejects(exec('echo ran'), /cordon\.sandbox\.mode.*very-safe/s);
  });
});
