import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { listProcesses } from '../harness/processes.ts';
import { callTool, exec, sessionId } from './callTool.ts';

const configuration = (): vscode.WorkspaceConfiguration => vscode.workspace.getConfiguration('cordon');

describe('the environment of a folder', () => {
  afterEach(async () => {
    await configuration().update('environment', undefined, vscode.ConfigurationTarget.Global);
    await configuration().update('environments', undefined, vscode.ConfigurationTarget.Global);
  });

  it('is a server apart from the editor, which loads no native code for terminals', async () => {
    const id = sessionId(await exec('tty; sleep 600', { tty: true, yield_time_ms: 500 }));
    const { sharedObjects } = process.report.getReport() as unknown as {
      readonly sharedObjects: readonly string[];
    };
    assert.deepEqual(
      sharedObjects.filter((path) => path.endsWith('pty.node')),
      [],
    );
    assert.ok(listProcesses().some(({ command }) => /exec-server --listen unix:/.test(command)));
    assert.match(await callTool('cordon_kill_session', { session_id: id }), /exited/);
  });

  it('is the one of the person’s setting, and no other when that one does not exist', async () => {
    await configuration().update('environment', 'nowhere', vscode.ConfigurationTarget.Global);
    await assert.rejects(exec('true'), /There is no environment "nowhere"/);
  });

  it('runs nothing where the settings of the environment are wrong, and says what to correct', async () => {
    const environments = { far: { type: 'telepathy' } };
    await configuration().update('environments', environments, vscode.ConfigurationTarget.Global);
    await configuration().update('environment', 'far', vscode.ConfigurationTarget.Global);
    await assert.rejects(exec('true'), /cordon\.environments\.far\.type is "telepathy".*must be one of/s);
  });
});
