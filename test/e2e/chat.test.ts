import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { assertEnded, descendantsOf, listProcesses } from '../harness/processes.ts';
import { waitFor } from '../harness/waitFor.ts';
import { assertNone, expectText } from './expect.ts';
import { useChat } from './useChat.ts';
import type { Editor } from './harness.ts';

describe('a tool call in chat, in a sandboxed folder', () => {
  const chat = useChat();

  it('runs without a question and answers with exit code and output', async () => {
    const { ask, answer, card, editor } = chat();
    await ask({ cmd: 'echo "mode: [$CORDON_SANDBOX]"; exit 3', login: false });
    const text = await answer('mode: [workspace-write]');
    assert.match(text, /Process exited with code 3/);
    await assertNone(card);
    await editor.screenshot('chat-sandboxed');
  });

  it('answers with the field that is wrong', async () => {
    const { ask, answer } = chat();
    await ask({ cmd: 5 });
    await answer(/exec_command failed: the input is not valid\.\n- cmd \(5\): .*expected string/);
    await ask({ cmd: 'true', yield_time_ms: 'soon' });
    await answer(/- yield_time_ms \("soon"\): .*expected number/);
  });

  it('ends the whole process group when the request is cancelled', async () => {
    const { ask, cancel, editor } = chat();
    await ask({ cmd: 'sleep 1000 & sleep 1000', login: false, yield_time_ms: 30_000 });
    await cancelAndExpectEnd(editor, cancel);
  });
});

describe('a tool call in chat, in a folder without a sandbox', () => {
  const chat = useChat({ userSettings: { 'cordon.sandbox.mode': 'danger-full-access' } });

  it('shows the exact command, all of it, and does not run it when skipped', async () => {
    const { ask, answer, card, skip, editor } = chat();
    const longWord = 'long'.repeat(25);
    const cmd = `echo *a* <b>&amp; $A$ \`date\`   # ${longWord}; touch skipped`;
    await ask({ cmd });
    await card.getByText('Run without a sandbox?').first().waitFor();
    const message = card.locator('.chat-confirmation-widget-message p').filter({ hasText: 'touch skipped' });
    await expectText(message, cmd);
    assert.ok(await message.first().evaluate(isWrapped), 'the command runs out of the card');
    await editor.screenshot('chat-confirmation');
    await skip();
    await answer('The user chose to skip the tool call');
    assert.equal(existsSync(join(editor.workspace, 'skipped')), false);
  });

  it('runs it when allowed, and asks anew the next time', async () => {
    const { ask, answer, card, allowOnce, skip, editor } = chat();
    await ask({ cmd: 'echo "mode: [$CORDON_SANDBOX]" | tee allowed', login: false });
    await allowOnce();
    assert.match(await answer('mode: []'), /Process exited with code 0/);
    assert.equal(await readFile(join(editor.workspace, 'allowed'), 'utf8'), 'mode: []\n');
    await ask({ cmd: 'touch again' });
    await card.getByText('touch again').first().waitFor();
    await skip();
    await answer('The user chose to skip the tool call');
    assert.equal(existsSync(join(editor.workspace, 'again')), false);
  });

  it('ends the whole process group when the request is cancelled', async () => {
    const { ask, allowOnce, cancel, editor } = chat();
    await ask({ cmd: 'sleep 1000 & sleep 1000', login: false, yield_time_ms: 30_000 });
    await allowOnce();
    await cancelAndExpectEnd(editor, cancel);
  });
});

async function cancelAndExpectEnd(editor: Editor, cancel: () => Promise<void>): Promise<void> {
  const sleeps = () =>
    descendantsOf(editor.serverPid).filter(({ command }) => /^(\S*\/)?sleep 1000$/.test(command));
  await waitFor('both sleeps to run', () => sleeps().length === 2);
  const groups = new Set(sleeps().map(({ group }) => group));
  const members = listProcesses().filter(({ group }) => groups.has(group));
  await cancel();
  await assertEnded(members);
}

/** True when no line of the element is wider than the element. */
function isWrapped(element: { readonly scrollWidth: number; readonly clientWidth: number }): boolean {
  return element.scrollWidth <= element.clientWidth;
}
