import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import type { TemporaryFolder } from '../harness/temporaryFolder.ts';
import { waitFor } from '../harness/waitFor.ts';
import { isDone, momentMs, useEditor } from './harness.ts';
import type { Editor } from './harness.ts';

const codexConfig = `
default_permissions = "review"
[permissions.review]
extends = ":read-only"
[permissions.review.filesystem.":workspace_roots"]
"docs" = "deny"
[permissions.review.filesystem]
glob_scan_max_depth = 3
[permissions.builder]
extends = ":workspace"
[permissions.builder.network]
enabled = true
`;

describe('the effective policy', () => {
  const editor = useEditor({ userSettings: { 'cordon.sandbox.hosts': { 'registry.example.org': 'allow' } } });

  it('opens from the palette, with clauses, rules and sources', async () => {
    const { runCommand, screenshot } = editor();
    await runCommand('Cordon: Show Effective Policy');
    await waitForPage(editor(), ['The sandbox of sample-project', 'Network off', 'Git:', 'Caches:']);
    await screenshot('effective-policy');
  });

  it('leads from the name of a setting to the setting', async () => {
    const { page, press, screenshot } = editor();
    const link = page.locator('.view-lines .detected-link', { hasText: 'cordon.sandbox.network' }).first();
    const settings = page.locator('.settings-editor');
    await waitFor('the settings', async () => {
      const box = await link.boundingBox();
      assert.ok(box !== null);
      // By the mouse itself: the editor draws the link anew while the key is down.
      await page.mouse.move(box.x + 60, box.y + box.height / 2);
      await page.keyboard.down('Control');
      await page.mouse.click(box.x + 60, box.y + box.height / 2);
      await page.keyboard.up('Control');
      return isDone(settings.waitFor({ timeout: momentMs }));
    });
    await settings.getByText('Whether sandboxed commands reach').waitFor();
    await screenshot('settings-network');
    await waitFor('the settings to go', async () => {
      await press('Escape');
      return isDone(settings.waitFor({ state: 'hidden', timeout: momentMs }));
    });
  });

  it('opens from the status bar, and follows a choice made there', async () => {
    const { statusBarItem, pick, closeAllEditors, quickInput, screenshot } = editor();
    await closeAllEditors();
    await statusBarItem('sandbox').click();
    await pick('Show Effective Policy');
    await waitForPage(editor(), ['## Network off']);
    await statusBarItem('sandbox').click();
    await quickInput.getByText('Network limited to allowed hosts').waitFor();
    await screenshot('change-sandbox');
    await pick('Network limited to allowed hosts');
    await statusBarItem('sandbox').getByText('Workspace write · network limited').waitFor();
    await waitForPage(editor(), ['## Network limited', 'registry.example.org', 'your choice here']);
    await screenshot('effective-policy-limited');
  });
});

describe('importing the settings of another program', () => {
  let home: TemporaryFolder;
  const editor = useEditor(async () => {
    home = await createTemporaryFolder('home');
    await mkdir(join(home.path, '.codex'));
    await writeFile(join(home.path, '.codex', 'config.toml'), codexConfig);
    await mkdir(join(home.path, '.claude'));
    await writeFile(join(home.path, '.claude', 'settings.json'), '{ "sandbox": ');
    return { env: { HOME: home.path } };
  });
  after(() => home.dispose());

  it('shows what would be set and what is lost, and sets nothing before the yes', async () => {
    const { runCommand, pick, quickInput, notification, statusBarItem, screenshot } = editor();
    await runCommand('Cordon: Import Sandbox Settings…');
    await quickInput.getByText('Claude Code').first().waitFor();
    await screenshot('import-pick');
    await pick('Codex: review');
    await waitForPage(editor(), ['Import from Codex', '"mode": "read-only"']);
    await notification(/nowhere wider than your settings/);
    await screenshot('import-preview');
    await statusBarItem('sandbox').getByText('Workspace write').waitFor();
  });

  it('applies it as a profile that counts at once, and takes it back', async () => {
    const { runCommand, pick, notification, statusBarItem, screenshot } = editor();
    await runCommand('Cordon: Import Sandbox Settings…');
    await pick('Codex: review');
    await button(await notification(/nowhere wider/), 'Apply to User Settings').click();
    await statusBarItem('sandbox').getByText('Read only · network off').waitFor();
    const done = await notification(/profile “codex” is in use/);
    await screenshot('import-applied');
    await button(done, 'Undo').click();
    await statusBarItem('sandbox').getByText('Workspace write').waitFor();
  });

  it('warns before it applies what is wider', async () => {
    const { runCommand, pick, notification, screenshot } = editor();
    await runCommand('Cordon: Import Sandbox Settings…');
    await pick('Codex: builder');
    await notification(/It is wider than your settings now/);
    await waitForPage(editor(), ['Wider than your settings now', 'off → on']);
    await screenshot('import-wider');
  });

  it('names what is wrong with a file that it cannot read', async () => {
    const { runCommand, pick, notification } = editor();
    await runCommand('Cordon: Import Sandbox Settings…');
    await pick('Claude Code');
    await notification(/settings\.json cannot be imported.*not valid JSON \(line 1\)/);
  });
});

describe('an invalid setting', () => {
  const editor = useEditor({ userSettings: { 'cordon.sandbox.git': 'sometimes' } });

  it('shows in the status bar, on the page, and offers the way to correct it', async () => {
    const { statusBarItem, notification, runCommand, screenshot } = editor();
    await statusBarItem('sandbox').getByText('Invalid sandbox setting').waitFor();
    await statusBarItem('sandbox').click();
    const problem = await notification(/cordon\.sandbox\.git is "sometimes" in the user settings/);
    await button(problem, 'Open Settings').waitFor();
    await screenshot('invalid-setting');
    await runCommand('Cordon: Show Effective Policy');
    await waitForPage(editor(), ['What is wrong', 'cordon.sandbox.git is "sometimes"', 'What to do']);
  });
});

describe('an invalid setting of the approvals', () => {
  const editor = useEditor({ userSettings: { 'cordon.approvals.policy': 'sometimes' } });

  it('shows in the status bar, and offers the way to correct it', async () => {
    const { statusBarItem, notification, screenshot } = editor();
    await statusBarItem('sandbox').getByText('Invalid approval setting').waitFor();
    await statusBarItem('sandbox').click();
    const problem = await notification(/cordon\.approvals\.policy is "sometimes" in the user settings/);
    await button(problem, 'Open Settings').waitFor();
    await screenshot('invalid-approval-setting');
  });
});

function button(notification: Locator, name: string): Locator {
  return notification.getByRole('button', { name });
}

/** Waits until the visible part of the open page has all the texts. */
async function waitForPage({ page }: Editor, texts: readonly string[]): Promise<void> {
  const shown = async (): Promise<string> => {
    const lines = await page.locator('.editor-instance .view-line').allInnerTexts();
    return lines.join('\n').replaceAll('\u00a0', ' ');
  };
  await waitFor(
    `a page with ${texts.join(', ')}`,
    async () => {
      const text = await shown();
      return texts.every((part) => text.includes(part));
    },
    { describe: shown },
  );
}
