import assert from 'node:assert/strict';
import { stripVTControlCharacters } from 'node:util';
import * as vscode from 'vscode';
import { waitFor } from '../harness/waitFor.ts';
import { callTool, exec, rootFolder, sessionId } from './callTool.ts';

describe('a session in a terminal', () => {
  afterEach(async () => {
    for (const terminal of vscode.window.terminals) {
      await close(terminal);
    }
  });

  for (const tty of [false, true]) {
    it(`gets what was printed before and what follows, each once, ${tty ? 'from a tty' : 'from pipes'}`, async () => {
      const cmd = 'for i in $(seq 1 200); do echo "line $i."; sleep 0.02; done';
      const id = sessionId(await exec(cmd, { yield_time_ms: 700, tty }));
      const { text, exitCode, commandLine } = await watch(id);
      // The screen that is shown first may end within a line, or before its end.
      const plain = stripVTControlCharacters(text);
      const lines = [...plain.matchAll(/line (\d+)\./g)].map((match) => Number(match[1]));
      assert.deepEqual(
        lines,
        Array.from({ length: 200 }, (_, index) => index + 1),
      );
      assert.equal(exitCode, 0);
      assert.deepEqual(commandLine, {
        value: cmd,
        isTrusted: true,
        confidence: vscode.TerminalShellExecutionCommandLineConfidence.High,
      });
    });
  }

  it('tells the editor folder, verdict and exit code of a tty session', async () => {
    const id = sessionId(await exec('read line; exit 3', { tty: true, yield_time_ms: 250 }));
    const { exitCode, terminal } = await watch(id, (shown) => shown.sendText('go'));
    assert.equal(exitCode, 3);
    assert.equal(terminal.shellIntegration?.cwd?.fsPath, rootFolder().uri.fsPath);
    await waitFor('the verdict in the name', () => terminal.name.startsWith('✗ 3 '), {
      describe: () => terminal.name,
    });
    assert.equal(terminal.exitStatus, undefined, 'the last screen stays');
  });

  it('takes typing, and leaves an agent’s session alive when it is closed', async () => {
    const id = sessionId(await exec('cat', { tty: true, yield_time_ms: 250 }));
    const terminal = await show(id);
    await waitFor('shell integration', () => terminal.shellIntegration);
    terminal.sendText('typed by hand');
    const seen = await callTool('cordon_write_stdin', { session_id: id, chars: 'by agent\r' });
    await close(terminal);
    const later = await callTool('cordon_write_stdin', { session_id: id, chars: 'still here\r' });
    assert.match(seen + later, /typed by hand/);
    assert.match(later, /still here/);
    await callTool('cordon_kill_session', { session_id: id });
  });

  it('is the same one when it is shown again', async () => {
    const id = sessionId(await exec('cat', { tty: true, yield_time_ms: 250 }));
    const first = await show(id);
    assert.equal(await show(id), first);
    await callTool('cordon_kill_session', { session_id: id });
  });
});

/** Shows a running session and follows it to its end, as the editor reports it; `whenShown` may bring the end about. */
async function watch(id: number, whenShown?: (terminal: vscode.Terminal) => void) {
  const started = new Promise<vscode.TerminalShellExecution>((resolve) => {
    const subscription = vscode.window.onDidStartTerminalShellExecution(({ execution }) => {
      subscription.dispose();
      resolve(execution);
    });
  });
  const ended = new Promise<number | undefined>((resolve) => {
    const subscription = vscode.window.onDidEndTerminalShellExecution(({ exitCode }) => {
      subscription.dispose();
      resolve(exitCode);
    });
  });
  const terminal = await show(id);
  const execution = await started;
  whenShown?.(terminal);
  let text = '';
  for await (const data of execution.read()) {
    text += data;
  }
  return { text, exitCode: await ended, commandLine: { ...execution.commandLine }, terminal };
}

async function show(id: number): Promise<vscode.Terminal> {
  await vscode.commands.executeCommand('cordon.showSession', id);
  return waitFor('an active terminal', () => vscode.window.activeTerminal);
}

async function close(terminal: vscode.Terminal): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    const subscription = vscode.window.onDidCloseTerminal((which) => {
      if (which === terminal) {
        subscription.dispose();
        resolve();
      }
    });
  });
  terminal.dispose();
  await closed;
}
