import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { waitFor } from '../harness/waitFor.ts';
import { expectCount } from './expect.ts';
import { useChat } from './useChat.ts';

describe('a patch of an agent in open files', () => {
  const chat = useChat({
    userSettings: { 'files.autoSave': 'off', 'files.readonlyInclude': { '**/locked.txt': true } },
    files: {
      'crlf.txt': 'first\r\nsecond\r\nthird\r\nfourth\r\n',
      'locked.txt': 'locked\n',
      'open.txt': 'open\n',
    },
  });

  const at = (name: string): string => join(chat().editor.workspace, name);
  const read = (name: string): Promise<string> => readFile(at(name), 'utf8');

  it('goes back in one step, on the disk too', async () => {
    const { patch, answer, editor } = chat();
    const before = await read('src/greeting.js');
    const readme = await read('README.md');
    await open('greeting.js', 'Hello, ');
    await patch(
      '*** Update File: src/greeting.js',
      '@@',
      '-  return `Hello, ${name}!`;',
      '+  return `Good evening, ${name}!`;',
      '*** Add File: evening.md',
      '+# Evening',
      '*** Update File: README.md',
      '@@',
      '-# Sample project',
      '+# Patched project',
    );
    await answer(/A evening\.md/);
    assert.match(await read('README.md'), /Patched/);
    await editor.clickInto(line('Good evening'));
    await editor.press('Control+z');
    await editor.screenshot('undo-patch');
    await waitFor('the disk to follow', async () => (await read('README.md')) === readme);
    await waitFor('the open file to follow', async () => (await read('src/greeting.js')) === before);
    await waitFor('the new file to go', () => !existsSync(at('evening.md')));
  });

  it('keeps what is typed and not saved, the cursor, and CRLF', async () => {
    const { patch, answer, editor } = chat();
    await open('crlf.txt', 'first');
    await editor.press('Control+Home');
    await editor.type('typed ');
    await editor.page.locator('.tab.dirty').filter({ hasText: 'crlf.txt' }).waitFor();
    assert.equal(await read('crlf.txt'), 'first\r\nsecond\r\nthird\r\nfourth\r\n');
    await patch('*** Update File: crlf.txt', '@@', ' typed first', '+added', ' second', '-third', '+THIRD');
    await answer(/M crlf\.txt/);
    await line('THIRD').waitFor();
    assert.equal(await read('crlf.txt'), 'typed first\r\nadded\r\nsecond\r\nTHIRD\r\nfourth\r\n');
    await expectCount(editor.page.locator('.tab.dirty'), 0);
    await editor.waitForText(/Ln 1, Col 7/);
    await editor.screenshot('patched-unsaved');
  });

  it('that may not be written changes nothing, and says why', async () => {
    const { patch, answer, editor } = chat();
    await open('locked.txt', 'locked');
    await patch(
      '*** Update File: open.txt',
      '@@',
      '-open',
      '+OPEN',
      '*** Update File: locked.txt',
      '@@',
      '-locked',
      '+LOCKED',
    );
    const text = await answer(/locked\.txt/);
    assert.match(text, /read-only/);
    assert.match(text, /Nothing was changed/);
    assert.equal(await read('open.txt'), 'open\n');
    assert.equal(await read('locked.txt'), 'locked\n');
    await editor.screenshot('patched-read-only');
  });

  async function open(name: string, text: string): Promise<void> {
    const { editor } = chat();
    await editor.openFile(name);
    await editor.clickInto(line(text));
  }

  function line(text: string): Locator {
    const lines = chat().editor.page.locator('.editor-group-container .view-line');
    return lines.filter({ hasText: text }).first();
  }
});
