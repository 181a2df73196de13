import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { waitFor } from '../harness/waitFor.ts';
import { callTool, rootFolder } from './callTool.ts';
import { setSetting } from './patchSetup.ts';

const original = [...'abcdefghijklmnop'].map((letter) => `${letter}\n`).join('');
const proposed = original.replace('b\n', 'B\n').replace('n\n', 'N\n');

describe('a patch that waits for review', () => {
  let folder: string;
  const path = (name: string): string => join(folder, name);
  const content = (name = 'file.txt'): Promise<string> => readFile(path(name), 'utf8');

  before('every patch is reviewed, and documents are saved by nobody but us', async () => {
    await setSetting('files', 'autoSave', 'off');
    await setSetting('cordon.patch', 'review', 'always');
  });
  after('settings as before', async () => {
    await setSetting('files', 'autoSave', undefined);
    await setSetting('cordon.patch', 'review', undefined);
    await rm(join(rootFolder().uri.fsPath, '.vscode'), { recursive: true, force: true });
  });
  beforeEach(async () => {
    folder = join(rootFolder().uri.fsPath, `reviews-${randomUUID()}`);
    await mkdir(folder);
    await writeFile(path('file.txt'), original);
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') {
      // Otherwise the next test would find two that wait.
      for (const reviewId of openReviews()) {
        await vscode.commands.executeCommand('cordon.rejectFile', { reviewId, file: 0 });
      }
    }
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await rm(folder, { recursive: true, force: true });
  });

  it('applies what the person made of the right side, and tells the model the difference', async () => {
    const { answer } = propose();
    const editor = await openReview();
    assert.equal(editor.document.getText(), proposed);
    assert.equal(await content(), original);
    await typeAt(editor, 'e\n', 'typed ');
    await waitFor('the document to be saved', () => !editor.document.isDirty);
    await vscode.commands.executeCommand('cordon.acceptPatch');
    assert.equal(await content(), proposed.replace('e\n', 'typed e\n'));
    assert.match(await answer, /applied with changes by the person[^]*^-e\n\+typed e$/m);
    await waitFor('the diff to be closed', () => diffTabs().length === 0);
  });

  it('shows a rejected hunk in the open diff and keeps what is being typed', async () => {
    const { answer } = propose();
    const editor = await openReview();
    await typeAt(editor, 'h\n', 'typed ');
    assert.ok(editor.document.isDirty);
    await vscode.commands.executeCommand('cordon.rejectHunk', target(editor, 1));
    const expected = original.replace('b\n', 'B\n').replace('h\n', 'typed h\n');
    await waitFor('the document', () => editor.document.getText() === expected, {
      describe: () => editor.document.getText(),
    });
    await vscode.commands.executeCommand('cordon.acceptPatch');
    assert.equal(await content(), expected);
    assert.match(await answer, /^-N\n\+n$/m);
  });

  it('loses no decision to a key that is pressed before the document shows it', async () => {
    const { answer } = propose();
    const editor = await openReview();
    await vscode.commands.executeCommand('cordon.rejectHunk', target(editor, 1));
    await typeAt(editor, 'h\n', 'typed ');
    const expected = original.replace('b\n', 'B\n').replace('h\n', 'typed h\n');
    await waitFor('the document', () => editor.document.getText() === expected, {
      describe: () => editor.document.getText(),
    });
    await vscode.commands.executeCommand('cordon.acceptPatch');
    assert.equal(await content(), expected);
    await answer;
  });

  it('loads a decision from the tree into a saved document', async () => {
    propose();
    const editor = await openReview();
    await vscode.commands.executeCommand('cordon.rejectHunk', target(editor, 0));
    await vscode.commands.executeCommand('cordon.rejectHunk', target(editor, 1));
    await waitFor('the review to be over', () => diffTabs().length === 0);
    assert.equal(await content(), original);
  });

  it('takes the hunk at the cursor', async () => {
    propose();
    const editor = await openReview();
    select(editor, 'N\n');
    await vscode.commands.executeCommand('cordon.rejectHunk');
    await waitFor('the hunk to go', () => !editor.document.getText().includes('N\n'));
    await waitFor('the cursor at the hunk that is left', () => editor.selection.active.line === 1);
    await vscode.commands.executeCommand('cordon.acceptHunk');
    await waitFor('the review to be over', () => diffTabs().length === 0);
    assert.equal(await content(), original.replace('b\n', 'B\n'));
  });

  it('can be copied as a diff of what would be applied', async () => {
    propose();
    const editor = await openReview();
    await typeAt(editor, 'e\n', 'typed ');
    await vscode.commands.executeCommand('cordon.rejectHunk', target(editor, 1));
    await vscode.commands.executeCommand('cordon.copyPatchAsDiff', target(editor));
    const diff = await vscode.env.clipboard.readText();
    assert.deepEqual(
      diff.split('\n').filter((line) => /^[-+@]/.test(line)),
      ['--- a/file.txt', '+++ b/file.txt', '@@ -1,8 +1,8 @@', '-b', '+B', '-e', '+typed e'],
    );
    await vscode.commands.executeCommand('cordon.acceptPatch', target(editor));
    await waitFor('the review to be over', () => diffTabs().length === 0);
  });

  it('decides nothing, asks nothing and loses nothing when its tab is closed', async () => {
    propose();
    const editor = await openReview();
    await typeAt(editor, 'e\n', 'typed ');
    await waitFor('the document to be saved', () => !editor.document.isDirty);
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
    assert.equal(await content(), original);
    const again = await openReview();
    assert.equal(again.document.getText(), proposed.replace('e\n', 'typed e\n'));
    await vscode.commands.executeCommand('cordon.acceptPatch');
    assert.equal(await content(), proposed.replace('e\n', 'typed e\n'));
  });

  it('follows the file, on disk and unsaved in its editor', async () => {
    propose();
    const editor = await openReview();
    await writeFile(path('file.txt'), original.replace('h\n', 'disk\n'));
    await waitFor('the change on disk', () => editor.document.getText().includes('disk\n'));
    const other = await vscode.window.showTextDocument(vscode.Uri.file(path('file.txt')), { preview: false });
    await waitFor('the change in the file’s editor', () => other.document.getText().includes('disk\n'));
    await other.edit((builder) => builder.insert(new vscode.Position(4, 0), 'unsaved '));
    await waitFor('the unsaved change', () => editor.document.getText().includes('unsaved e\n'));
    await vscode.commands.executeCommand('cordon.acceptPatch');
    const expected = proposed.replace('h\n', 'disk\n').replace('e\n', 'unsaved e\n');
    await waitFor('the file', async () => (await content()) === expected, { describe: () => content() });
  });

  it('tells the model when it no longer applies, and stays to be seen', async () => {
    const { answer } = propose();
    const editor = await openReview();
    await writeFile(path('file.txt'), 'all new\n');
    await assert.rejects(answer, /The files changed while the patch waited for its review/);
    assert.equal(editor.document.getText(), proposed);
    await vscode.commands.executeCommand('cordon.closeObsoleteReview', target(editor));
    await waitFor('the diff to be closed', () => diffTabs().length === 0);
  });

  it('goes on when its call is cancelled, and the next call hears of it', async () => {
    const { cancel, answer } = propose();
    await openReview();
    cancel();
    await assert.rejects(answer);
    await vscode.commands.executeCommand('cordon.acceptPatch');
    assert.equal(await content(), proposed);
    await setSetting('cordon.patch', 'review', 'never');
    try {
      const next = await callTool('cordon_apply_patch', { input: addPatch, workdir: folder });
      assert.match(next, /Note: Since the last call, the patch "file\.txt" .* applied file\.txt\./);
    } finally {
      await setSetting('cordon.patch', 'review', 'always');
    }
  });

  it('leaves other lines alone, whatever the settings do on saving', async () => {
    await setSetting('files', 'trimTrailingWhitespace', true);
    try {
      const odd = original.replace('k\n', 'k  \n');
      await writeFile(path('file.txt'), odd);
      propose();
      const editor = await openReview();
      await typeAt(editor, 'e\n', 'typed ');
      await waitFor('the document to be saved', () => !editor.document.isDirty);
      await vscode.commands.executeCommand('cordon.acceptPatch');
      const expected = odd.replace('b\n', 'B\n').replace('n\n', 'N\n').replace('e\n', 'typed e\n');
      assert.equal(await content(), expected);
    } finally {
      await setSetting('files', 'trimTrailingWhitespace', undefined);
    }
  });

  for (const [name, encode] of [
    ['mixed line ends and a byte order mark', (text: string) => `\ufeff${text.replace('h\n', 'h\r\n')}`],
    ['CRLF', (text: string) => text.replaceAll('\n', '\r\n')],
    ['Latin-1', (text: string) => text.replace('h', 'hé')],
  ] as const) {
    it(`keeps ${name} around an edit, in any encoding setting`, async () => {
      const bytes = (text: string): Buffer =>
        Buffer.from(encode(text), name === 'Latin-1' ? 'latin1' : 'utf8');
      await setSetting('files', 'encoding', 'windows1251');
      try {
        await writeFile(path('file.txt'), bytes(original));
        propose();
        const editor = await openReview();
        await typeAt(editor, 'e', 'typed ');
        await waitFor('the document to be saved', () => !editor.document.isDirty);
        await vscode.commands.executeCommand('cordon.acceptPatch');
        const expected = bytes(proposed.replace('e\n', 'typed e\n'));
        assert.deepEqual(await readFile(path('file.txt')), expected);
      } finally {
        await setSetting('files', 'encoding', undefined);
      }
    });
  }

  it('opens by itself only when the person wants that, in one preview tab', async () => {
    await setSetting('cordon.patch', 'openPreview', true);
    try {
      propose();
      const tab = await waitFor('the preview', () => diffTabs()[0]);
      assert.ok(tab.isPreview);
    } finally {
      await setSetting('cordon.patch', 'openPreview', undefined);
    }
    await vscode.commands.executeCommand('cordon.acceptPatch');
    assert.equal(await content(), proposed);
  });

  /** Calls the tool; the review is there when {@link openReview} finds it. */
  function propose(): { readonly answer: Promise<string>; readonly cancel: () => void } {
    const source = new vscode.CancellationTokenSource();
    const answer = callTool('cordon_apply_patch', { input: patch, workdir: folder }, source.token);
    answer.catch(() => {}); // whoever asks for it sees the failure
    return { answer, cancel: () => source.cancel() };
  }

  async function openReview(): Promise<vscode.TextEditor> {
    return waitFor('the diff of the review', async () => {
      if (diffTabs().length === 0) {
        await vscode.commands.executeCommand('cordon.openPatchReview', undefined);
      }
      return vscode.window.visibleTextEditors.find(({ document }) => /side=right/.test(document.uri.query));
    });
  }
});

const patch = `*** Begin Patch
*** Update File: file.txt
@@
 a
-b
+B
 c
@@
 m
-n
+N
 o
*** End Patch
`;
const addPatch = `*** Begin Patch
*** Add File: added.txt
+added
*** End Patch
`;

function diffTabs(): readonly vscode.Tab[] {
  return vscode.window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .filter(({ input }) => input instanceof vscode.TabInputTextDiff);
}

/** The ids of the reviews that have a diff open. */
function openReviews(): ReadonlySet<string | null> {
  return new Set(diffTabs().map(({ input }) => reviewIdOf((input as vscode.TabInputTextDiff).modified)));
}

function reviewIdOf(uri: vscode.Uri): string | null {
  return new URLSearchParams(uri.query).get('review');
}

/** What the tree would give for a row of the review that the editor shows. */
function target({ document }: vscode.TextEditor, hunk?: number): object {
  return { reviewId: reviewIdOf(document.uri), ...(hunk === undefined ? {} : { file: 0, hunk }) };
}

async function typeAt(editor: vscode.TextEditor, place: string, text: string): Promise<void> {
  const position = editor.document.positionAt(editor.document.getText().indexOf(place));
  await editor.edit((builder) => builder.insert(position, text));
}

function select(editor: vscode.TextEditor, place: string): void {
  const position = editor.document.positionAt(editor.document.getText().indexOf(place));
  editor.selection = new vscode.Selection(position, position);
}
