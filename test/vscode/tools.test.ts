import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { waitFor } from '../harness/waitFor.ts';
import { callTool, exec, rootFolder, sessionId } from './callTool.ts';

describe('the language-model tools', () => {
  it('run a command in the sandbox of the root and answer with its output', async () => {
    const answer = await exec('pwd; echo "$CORDON_SANDBOX"');
    assert.match(answer, /Process exited with code 0/);
    assert.ok(answer.includes(`${rootFolder().uri.fsPath}\nworkspace-write\n`), answer);
  });

  it('write in the root, and nowhere else', async () => {
    const outside = join(homedir(), 'cordon-test-outside');
    const answer = await exec(`echo in > inside; echo out > ${outside}`);
    assert.match(answer, /Process exited with code [^0]/);
    assert.match(answer, /writes are limited to/);
    assert.equal(existsSync(outside), false);
    assert.equal(existsSync(join(rootFolder().uri.fsPath, 'inside')), true);
    await rm(join(rootFolder().uri.fsPath, 'inside'));
  });

  it('refuse an invalid input with the field, its value and what is right', async () => {
    await assert.rejects(callTool('cordon_exec_command', { cmd: 7 }), /cmd \(7\): .*expected string/s);
    await assert.rejects(callTool('cordon_exec_command', {}), /cmd \(missing\)/);
    await assert.rejects(callTool('cordon_sleep', { duration_ms: 0 }), /duration_ms \(0\): must be between/);
  });

  it('type into a session, list it and end it', async () => {
    const id = sessionId(await exec('cat', { tty: true, yield_time_ms: 250 }));
    assert.match(await callTool('cordon_write_stdin', { session_id: id, chars: 'hello\r' }), /hello/);
    assert.match(await callTool('cordon_list_sessions', {}), new RegExp(`^${id}: running`, 'm'));
    await callTool('cordon_kill_session', { session_id: id });
    assert.doesNotMatch(await callTool('cordon_list_sessions', {}), new RegExp(`^${id}:`, 'm'));
  });

  it('end the process group when the call is cancelled', async () => {
    const folder = rootFolder().uri.fsPath;
    const pulse = join(folder, 'pulse');
    const source = new vscode.CancellationTokenSource();
    const call = callTool(
      'cordon_exec_command',
      { cmd: '(while sleep 0.1; do date +%N > pulse; done) & wait', login: false, yield_time_ms: 30_000 },
      source.token,
    );
    await waitFor('the first pulse', () => existsSync(pulse));
    source.cancel();
    await assert.rejects(call);
    await waitFor('silence', async () => {
      await rm(pulse, { force: true });
      await new Promise((resolve) => setTimeout(resolve, 400));
      return !existsSync(pulse);
    });
  });

  it('apply a patch in the root, given to the tool, to a shell or to the program', async () => {
    const path = join(rootFolder().uri.fsPath, 'patched');
    const patch = (from: string, to: string): string =>
      `*** Begin Patch\n*** Update File: patched\n@@\n-${from}\n+${to}\n*** End Patch`;
    const added = '*** Begin Patch\n*** Add File: patched\n+1\n*** End Patch';
    const success = /Success\. Updated the following files:\n[AM] patched\n/;
    try {
      assert.match(await callTool('cordon_apply_patch', { input: added }), success);
      assert.match(await exec(`apply_patch <<'EOF'\n${patch('1', '2')}\nEOF`), success);
      assert.match(await exec(`echo '${patch('2', '3')}' | apply_patch`), success);
      assert.equal(await readFile(path, 'utf8'), '3\n');
    } finally {
      await rm(path, { force: true });
    }
  });

  it('refuse a patch that does not fit, with the lines that it looked for', async () => {
    const input = '*** Begin Patch\n*** Update File: README.md\n@@\n-not there\n*** End Patch';
    await assert.rejects(
      callTool('cordon_apply_patch', { input }),
      /Failed to find expected lines.*not there/s,
    );
  });

  it('sleep, and tell how long', async () => {
    const answer = await callTool('cordon_sleep', { duration_ms: 50 });
    assert.ok(Number(/Wall time: ([\d.]+)/.exec(answer)?.[1]) >= 0.049, answer);
  });
});
