import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import type { Locator } from 'playwright-core';
import type { TemporaryFolder } from '../harness/temporaryFolder.ts';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import { waitFor } from '../harness/waitFor.ts';
import { expectCount } from './expect.ts';
import type { Editor } from './harness.ts';
import { pressRowButton } from './harness.ts';
import { useChat } from './useChat.ts';

describe('a command that was denied a path', () => {
  let outside: TemporaryFolder;
  const chat = useChat(async () => {
    outside = await createTemporaryFolder('outside');
    return { userSettings: { 'cordon.sandbox.files': { [outside.path]: 'read' } } };
  });
  after(() => outside?.dispose());
  const name = (): string => join(basename(outside.path), 'made');
  const target = (): string => join(outside.path, 'made');
  const cmd = (): string => `touch ${target()} && echo it worked`;

  it('is a row that names path, clause and session, with what would allow it below', async () => {
    const { ask, answer, editor } = chat();
    await editor.openSideBar('Cordon');
    await editor.waitForText('The sandbox has stopped nothing since this window opened.');
    await ask({ cmd: cmd(), login: false });
    await answer(/Process exited with code 1/);
    const row = denial(editor, name());
    await row.click();
    await row.filter({ hasText: /session \d+/ }).waitFor();
    await cure(editor, `Allow writing to ${outside.path}…`).waitFor();
    await editor.screenshot('denial-path');
  });

  it('succeeds when the path is granted and it is run again', async () => {
    const { editor } = chat();
    await pressRowButton(denial(editor, name()), 'Allow…');
    await editor.quickInput.getByText('Allow and Run Again Once').waitFor();
    await editor.screenshot('denial-grants');
    await editor.pick('Allow and Run Again in This Folder');
    await editor.waitForTerminal(/it worked[^]*exited with code 0/);
    assert.ok(existsSync(target()));
    await closeTerminal(editor);
    await cure(editor, 'Allowed now: run it again').waitFor();
    await editor.runCommand('Cordon: Show Effective Policy');
    const lines = editor.page.locator('.editor-instance .view-line');
    await editor.clickInto(lines.first());
    await editor.press('Control+End');
    await lines
      .filter({ hasText: /until.revoked/ })
      .first()
      .waitFor();
    await editor.screenshot('effective-policy-grants');
    await editor.closeAllEditors();
  });

  it('is denied again after the grant is revoked', async () => {
    const { ask, answer, editor } = chat();
    await ask({ cmd: cmd(), login: false });
    await answer(/Process exited with code 0[^]*it worked/);
    await revokeAll(editor, 'Writing to');
    await ask({ cmd: cmd(), login: false });
    await answer(/Process exited with code 1/);
    await denial(editor, name()).nth(1).waitFor();
  });

  it('can be let through once, and leaves no grant', async () => {
    const { editor } = chat();
    await editor.runCommand('Cordon: Allow…');
    await editor.pick(new RegExp(name()));
    await editor.pick('Allow and Run Again Once');
    await editor.waitForTerminal(/it worked[^]*exited with code 0/);
    await editor.runCommand('Cordon: Revoke Grants…');
    await editor.notification('There are no grants');
  });

  it('of a person’s own offers the grant where it tells of the denial', async () => {
    const { editor } = chat();
    await closeTerminal(editor);
    await editor.runCommand('Cordon: Run Sandboxed…');
    await editor.answer(cmd(), 'Command to run in the sandbox');
    const told = await editor.notification(/made.*stopped the write/);
    await told.getByRole('button', { name: 'Allow…' }).click();
    await editor.pick('Allow and Run Again Once');
    await editor.waitForTerminal(/it worked[^]*exited with code 0/);
    await pressRowButton(denial(editor, name()).first(), 'Dismiss');
    await expectCount(denial(editor, name()), 2);
  });

  it('is dismissed, and all of them are', async () => {
    const { editor } = chat();
    const rows = denial(editor, name());
    await pressRowButton(rows.first(), 'Dismiss');
    await expectCount(rows, 1);
    await editor.runCommand('Cordon: Clear Denials');
    await expectCount(rows, 0);
  });
});

describe('a command that was denied a host', () => {
  // Programs reach other addresses of loopback without the proxy: those are the sandbox's own.
  const address = '127.0.0.2';
  let server: Server;
  const requests: (string | undefined)[] = [];
  const chat = useChat({ userSettings: { 'cordon.sandbox.network': 'allow-list' } });
  before('start a server on loopback', async () => {
    server = createServer((request, response) => {
      requests.push(request.url);
      response.end('reached the host\n');
    });
    await new Promise<void>((resolve) => server.listen(0, address, resolve));
  });
  after(() => void server.close());
  const host = (): string => `${address}:${(server.address() as AddressInfo).port}`;
  const fetchIt = (path: string): object => ({ cmd: `curl -sSf http://${host()}/${path}`, login: false });

  it('reaches it while the grant holds, and not before or after', async () => {
    const { ask, answer, editor } = chat();
    await editor.openSideBar('Cordon');
    await ask(fetchIt('before'));
    await answer(/Process exited with code [1-9]/);
    await denial(editor, host()).click();
    await cure(editor, `Allow connections to ${host()}…`).click();
    await editor.pick('Allow and Run Again for an Hour');
    await editor.waitForTerminal(/reached the host[^]*exited with code 0/);
    await closeTerminal(editor);
    await ask(fetchIt('granted'));
    await answer('reached the host');
    await editor.screenshot('denial-host');

    await revokeAll(editor, 'Connections to');
    await ask(fetchIt('after'));
    await answer(/Process exited with code [1-9]/);
    assert.deepEqual(requests, ['/before', '/granted']);
  });

  it('goes on in what runs already, which is named and can be ended', async () => {
    const { ask, answer, editor } = chat();
    await editor.runCommand('Cordon: Allow…');
    await editor.pick(new RegExp(host()));
    await editor.pick('Allow for This Session');
    await ask({ cmd: 'sleep 1000', login: false, yield_time_ms: 250 });
    await answer(/session ID \d+/);
    const told = await revokeAll(editor, 'Connections to', /goes on with it: session \d+ “sleep 1000”/);
    await editor.screenshot('revoked-running');
    await told.getByRole('button', { name: 'End It' }).click();
    await ask({ tool: 'cordon_list_sessions', input: {} });
    await answer(/sleep 1000/);
    await waitFor('the session to end', async () => {
      await ask({ tool: 'cordon_list_sessions', input: {} });
      return !/running[^\n]*sleep 1000/.test(await answer(/sleep 1000/));
    });
  });
});

/** So that the next one is not taken for it. */
async function closeTerminal({ page, runCommand }: Editor): Promise<void> {
  await runCommand('Terminal: Kill the Active Terminal Instance');
  await page.locator('.terminal-wrapper.active').waitFor({ state: 'detached' });
}

/** The rows of denials that name the path or host. */
function denial({ page }: Editor, name: string): Locator {
  return page.locator('.pane-body .monaco-list-row[aria-label^="Denied: "]').filter({ hasText: name });
}

/** A row below a denial. */
function cure({ page }: Editor, label: string): Locator {
  return page.locator('.pane-body .monaco-list-row[aria-level="2"]').filter({ hasText: label });
}

/** Revokes the only grant, whose label begins so, by keys. */
async function revokeAll(
  editor: Editor,
  label: string,
  told: string | RegExp = 'The grant is revoked.',
): Promise<Locator> {
  await editor.runCommand('Cordon: Revoke Grants…');
  await editor.quickInput.getByText(label).first().waitFor();
  await editor.screenshot('revoke-grants');
  await editor.press('ArrowDown', 'Space', 'Enter');
  return editor.notification(told);
}
