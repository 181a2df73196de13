import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { callTool } from './callTool.ts';

describe('cordon_sleep', () => {
  it('tells the time that really passed', async () => {
    assert.match(
      await callTool('cordon_sleep', { duration_ms: 50 }),
      /^Wall time: 0\.\d{4} seconds\nSleep completed\.$/,
    );
  });

  it('is woken by Cordon: Wake Sleeping Agent', async () => {
    const sleeping = callTool('cordon_sleep', { duration_ms: 3_600_000 });
    const timer = setInterval(() => void vscode.commands.executeCommand('cordon.wakeAgent'), 100);
    assert.match(await sleeping, /Sleep interrupted by new input\.$/);
    clearInterval(timer);
  });
});
