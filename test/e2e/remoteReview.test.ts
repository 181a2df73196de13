import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { startCordonServer } from '../harness/cordonServer.ts';
import type { SpawnedServer } from '../harness/spawnedServer.ts';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import type { TemporaryFolder } from '../harness/temporaryFolder.ts';
import { waitFor } from '../harness/waitFor.ts';
import { expectText } from './expect.ts';
import { pressRowButton as press } from './harness.ts';
import { useChat } from './useChat.ts';

describe('reviewing a patch for another machine', () => {
  let folder: TemporaryFolder;
  let server: SpawnedServer;
  let home: string;

  const chat = useChat(async () => {
    folder = await createTemporaryFolder('elsewhere');
    home = join(folder.path, 'work');
    mkdirSync(join(home, 'src'), { recursive: true });
    server = await startCordonServer();
    return {
      machineSettings: {
        'cordon.environments': { build: { type: 'url', url: server.url, folder: home } },
        'cordon.environment': 'build',
      },
      userSettings: { 'cordon.patch.review': 'always' },
    };
  });
  after(async () => {
    await server.dispose();
    await folder.dispose();
  });

  const name = 'src/greeting.js';
  const there = (): string => readFileSync(join(home, name), 'utf8');
  const here = (): string => readFileSync(join(chat().editor.workspace, name), 'utf8');
  const row = (label: RegExp): Locator =>
    chat()
      .editor.page.locator('.pane-body .monaco-list-row')
      .and(chat().editor.page.getByLabel(label))
      .first();
  const before = 'one\ntwo\nthree\n';
  let local: string;

  const propose = (): Promise<void> =>
    chat().patch(`*** Update File: ${name}`, '@@', '-two', '+2', '*** Add File: notes.md', '+# Notes');

  it('names the machine wherever it waits, and shows the files there', async () => {
    const { editor } = chat();
    local = here();
    writeFileSync(join(home, name), before);
    await editor.openSideBar('Cordon');
    await propose();
    await row(/^Patch build: src\/greeting\.js, notes\.md, 2 files/).waitFor();
    await expectText(editor.statusBarItem('patchReviews'), '1');
    await row(/^src\/greeting\.js, 1 hunk/).click();
    await editor.page.locator('.tab').filter({ hasText: 'build: greeting.js (Patch Review)' }).waitFor();
    const right = editor.page.locator('.editor.modified .view-line');
    await right.filter({ hasText: 'three' }).first().waitFor();
    await editor.screenshot('remote-review-diff');
    await press(row(/^Patch build/), 'Open Patch Review…');
    await editor.page.locator('.multiDiffEntry .view-line').filter({ hasText: '# Notes' }).first().waitFor();
    await editor.screenshot('remote-review-whole-patch');
    assert.equal(there(), before);
  });

  it('is applied there when it is accepted, and leaves the file of the same name here alone', async () => {
    const { answer, editor } = chat();
    await press(row(/^Patch build/), 'Accept Patch');
    await answer(/M src\/greeting\.js/);
    assert.equal(there(), before.replace('two', '2'));
    assert.equal(readFileSync(join(home, 'notes.md'), 'utf8'), '# Notes\n');
    assert.equal(here(), local);
    await editor.statusBarItem('patchReviews').waitFor({ state: 'hidden' });
  });

  it('is taken back there by its checkpoint', async () => {
    const { editor } = chat();
    await editor.runCommand('Cordon: Focus on Checkpoints View');
    const checkpoint = row(/^Checkpoint before build: src\/greeting\.js, notes\.md/);
    await checkpoint.click();
    await editor.press('ArrowRight');
    await row(/^src\/greeting\.js, modified/).click();
    await editor.page.locator('.tab').filter({ hasText: 'build: greeting.js (before ↔ after' }).waitFor();
    await editor.page.locator('.editor.modified .view-line').filter({ hasText: 'three' }).first().waitFor();
    await editor.screenshot('remote-checkpoint');
    await press(checkpoint, 'Restore Checkpoint');
    await waitFor('the file there', () => there() === before);
    await waitFor('the new file to go', () => !existsSync(join(home, 'notes.md')));
    assert.equal(here(), local);
    await row(/^Checkpoint before Restore of build: /).waitFor();
    await editor.closeAllEditors();
  });

  it('changes nothing there or here when it is rejected', async () => {
    const { answer, editor } = chat();
    await propose();
    await press(row(/^Patch build/), 'Reject Patch…');
    await editor.answer('Not on that machine.', 'What should the agent do instead?');
    await answer(/patch rejected by user\s*Comment of the person: Not on that machine\./);
    assert.equal(there(), before);
    assert.equal(here(), local);
  });
});
