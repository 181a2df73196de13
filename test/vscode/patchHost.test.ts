import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { link, lstat, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { FileError } from '../../src/patch/files/fileSystem.ts';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import { planMove, planOf } from '../harness/testPlan.ts';
import { waitFor } from '../harness/waitFor.ts';
import { rootFolder } from './callTool.ts';
import { modeOf, policyOf, setSetting, typeInto, usePatchSetup } from './patchSetup.ts';

const text = (path: string): Promise<string> => readFile(path, 'utf8');
const openFiles = (): readonly string[] =>
  vscode.window.tabGroups.all.flatMap(({ tabs }) =>
    tabs.flatMap(({ input }) => (input instanceof vscode.TabInputText ? [input.uri.fsPath] : [])),
  );
/** Documents without a tab that the editor keeps open at a time are fewer. */
const manyFiles = 250;
const documentOf = (path: string): vscode.TextDocument | undefined =>
  vscode.workspace.textDocuments.find(({ uri }) => uri.fsPath === path);

describe('a patch applied in the editor', () => {
  const setup = usePatchSetup();

  it('changes, creates, deletes and renames, and the disk has it', async () => {
    const { write, path, plan, apply, applier, log } = setup();
    await write('changed', 'one\ntwo\n');
    await write('deleted', 'gone\n');
    const from = await write('old name', 'moved\n');
    const changes = await plan({ changed: 'one\nTWO\n', deleted: undefined, 'folder/created': 'new\n' });
    const move = await planMove(applier.files, from, path('folder/new name'));
    assert.deepEqual(await apply(planOf([...changes.changes, ...move.changes])), []);
    assert.equal(await text(path('changed')), 'one\nTWO\n');
    assert.equal(await text(path('folder/created')), 'new\n');
    assert.equal(await text(path('folder/new name')), 'moved\n');
    assert.ok(!existsSync(path('deleted')) && !existsSync(from));
    assert.equal(log.filter((line) => line.endsWith('through the editor')).length, 4);
  });

  it('is one undo step, after which the disk is what it was, and one redo', async () => {
    const { write, path, plan, apply } = setup();
    await write('a', 'one\n');
    await write('b', 'two\n');
    await write('deleted', 'run\n', 0o755);
    await vscode.window.showTextDocument(vscode.Uri.file(path('a')));
    await apply(await plan({ a: 'ONE\n', b: 'TWO\n', created: 'new\n', deleted: undefined }));
    await vscode.commands.executeCommand('undo');
    await waitFor('the disk to follow the undo', async () => (await text(path('b'))) === 'two\n');
    await waitFor('the other file to follow', async () => (await text(path('a'))) === 'one\n');
    await waitFor('the new file to go', () => !existsSync(path('created')));
    await waitFor('the permissions to come back', async () => (await modeOf(path('deleted'))) === 0o755);
    const isClean = (): boolean => vscode.workspace.textDocuments.every(({ isDirty }) => !isDirty);
    await waitFor('nothing to be left unsaved', isClean);
    await vscode.commands.executeCommand('redo');
    await waitFor('the disk to follow the redo', async () => (await text(path('b'))) === 'TWO\n');
    await waitFor('the other file to follow', async () => (await text(path('a'))) === 'ONE\n');
    await waitFor('the new file to come back', () => existsSync(path('created')));
  });

  it('leaves cursor, scroll position and focus where they are', async () => {
    const { write, plan, apply } = setup();
    const lines = Array.from({ length: 400 }, (_, index) => `line ${index}\n`);
    const path = await write('long', lines.join(''));
    await write('other', 'x\n');
    const editor = await vscode.window.showTextDocument(vscode.Uri.file(path));
    editor.selection = new vscode.Selection(300, 3, 300, 7);
    editor.revealRange(editor.selection, vscode.TextEditorRevealType.InCenter);
    await waitFor('the scroll', () => (editor.visibleRanges[0]?.start.line ?? 0) > 100);
    const top = editor.visibleRanges[0]?.start.line ?? 0;
    await apply(
      await plan({ long: [...lines.slice(0, 10), 'more\n', ...lines.slice(10)].join(''), other: 'y\n' }),
    );
    assert.equal(vscode.window.activeTextEditor, editor);
    assert.equal(editor.document.getText(editor.selection), 'e 30');
    assert.equal(editor.selection.start.line, 301);
    const moved = (editor.visibleRanges[0]?.start.line ?? 0) - top;
    assert.ok(moved >= 0 && moved <= 1, `scrolled by ${moved} lines`);
    assert.equal(vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).length, 1);
  });

  for (const [name, before, after] of [
    ['CRLF', 'one\r\ntwo\r\n', 'one\r\nTWO\r\nthree\r\n'],
    ['a byte order mark', '\ufeffone\ntwo\n', '\ufeffone\nTWO\n'],
    ['no final newline', 'one\ntwo', 'one\nTWO'],
    ['a final newline that goes', 'one\ntwo\n', 'one\ntwo'],
    ['a final newline that comes', 'one\ntwo', 'one\ntwo\nthree\n'],
    ['nothing', '', 'one\n'],
    ['something, and is emptied', 'one\n', ''],
  ] as const) {
    it(`keeps a file with ${name} byte by byte, through its document`, async () => {
      const { write, plan, apply, log } = setup();
      const path = await write('file', before);
      await apply(await plan({ file: after }));
      assert.deepEqual(await readFile(path), Buffer.from(after));
      assert.equal(documentOf(path)?.isDirty, false);
      assert.match(log.join('\n'), /through the editor/);
    });
  }

  it('keeps UTF-16', async () => {
    const { write, plan, apply, log } = setup();
    const utf16 = (content: string): Buffer => Buffer.from(`\ufeff${content}`, 'utf16le');
    const path = await write('file', utf16('one\ntwo\n'));
    await apply(await plan({ file: utf16('one\nTWO\n') }));
    assert.deepEqual(await readFile(path), utf16('one\nTWO\n'));
    assert.match(log.join('\n'), /through the editor/);
  });

  for (const [name, before, after, reason] of [
    ['mixed line ends', 'a\r\nb\nc\n', 'a\r\nB\nc\n', /its line ends are mixed/],
    ['a lone CR', 'a\rb\nc\n', 'A\rb\nc\n', /its line ends are mixed/],
    ['new line ends of another kind', 'a\nb\n', 'a\nB\r\n', /the new line ends are not those of the file/],
    [
      'bytes that are invalid in its encoding',
      Buffer.from([97, 10, 0xe9, 10]),
      Buffer.from([98, 10, 0xe9, 10]),
      /not what the editor writes in the encoding utf8/,
    ],
    ['binary content', Buffer.from([0, 1, 2, 0, 255]), Buffer.from([0, 1, 3, 0, 255]), /binary/],
    ['more than 50,000 lines', 'x\n'.repeat(50_001), 'y\n'.repeat(50_001), /too large for the editor/],
  ] as const) {
    it(`goes around the editor for a file with ${name}, and says why`, async () => {
      const { write, plan, apply, log } = setup();
      const path = await write('file', before);
      await apply(await plan({ file: after }));
      assert.deepEqual(await readFile(path), Buffer.from(after));
      assert.match(log.join('\n'), new RegExp(`directly on the disk, because .*${reason.source}`));
    });
  }

  it('goes around the editor for a rename with new content, and carries the permissions', async () => {
    const { write, path, applier, apply, log } = setup();
    const from = await write('from.sh', 'one\n', 0o750);
    await apply(await planMove(applier.files, from, path('to.sh'), 'two\n'));
    assert.equal(await text(path('to.sh')), 'two\n');
    assert.equal(await modeOf(path('to.sh')), 0o750);
    assert.equal(existsSync(from), false);
    assert.match(log.join('\n'), /because it is renamed and edited/);
  });

  it('goes around the editor for a file with several names, and both names keep their content', async () => {
    const { write, path, plan, apply, log } = setup();
    await write('one', 'a\n');
    await link(path('one'), path('two'));
    await apply(await plan({ one: 'b\n' }));
    assert.deepEqual([await text(path('one')), await text(path('two'))], ['b\n', 'b\n']);
    assert.match(log.join('\n'), /hard links/);
  });

  it('keeps the executable bit and the identity of a file', async () => {
    const { write, plan, apply } = setup();
    const path = await write('run.sh', 'echo a\n', 0o755);
    const { ino } = await stat(path);
    await apply(await plan({ 'run.sh': 'echo b\n' }));
    assert.equal(await modeOf(path), 0o755);
    assert.equal((await stat(path)).ino, ino);
  });

  it('removes a link, not what it leads to', async () => {
    const { write, path, apply } = setup();
    await write('target', 'a\n');
    await symlink('target', path('link'));
    const entry = { kind: 'link', target: 'target' } as const;
    await apply(planOf([{ kind: 'delete', path: path('link'), name: 'link', before: { entry } }]));
    await assert.rejects(lstat(path('link')));
    assert.equal(await text(path('target')), 'a\n');
  });

  it('may have more files than the editor keeps documents of, without opening tabs', async () => {
    const { write, path, plan, apply } = setup();
    const names = Array.from({ length: manyFiles }, (_, index) => `file ${index}`);
    for (const name of names) {
      await write(name, `${name}\n`);
    }
    await apply(await plan(Object.fromEntries(names.map((name) => [name, `${name} changed\n`]))));
    for (const name of names) {
      assert.equal(await text(path(name)), `${name} changed\n`);
    }
    assert.deepEqual(openFiles(), []);
  });

  it('writes exactly the plan in spite of the settings for saving, and says so', async () => {
    const { write, plan, apply } = setup();
    const path = await write('file', 'one\ntwo  \nlast\n');
    await setSetting('files', 'trimTrailingWhitespace', true);
    await setSetting('files', 'insertFinalNewline', true);
    try {
      const [note] = await apply(await plan({ file: 'ONE  \ntwo  \nlast' }));
      assert.equal(await text(path), 'ONE  \ntwo  \nlast');
      assert.match(note ?? '', /^file: .*settings for saving/);
      await waitFor('the document to follow', () => documentOf(path)?.getText() === 'ONE  \ntwo  \nlast');
      assert.equal(documentOf(path)?.isDirty, false);
    } finally {
      await setSetting('files', 'trimTrailingWhitespace', undefined);
      await setSetting('files', 'insertFinalNewline', undefined);
    }
  });

  it('records a checkpoint, and none when it fails', async () => {
    const { write, plan, apply, failure, checkpoints } = setup();
    const path = await write('file', 'one\n');
    const first = await plan({ file: 'two\n' });
    await apply(first);
    assert.deepEqual(
      (await checkpoints.list()).map(({ title }) => title),
      ['Test patch'],
    );
    await writeFile(path, 'somebody else\n');
    await failure(first);
    assert.equal((await checkpoints.list()).length, 1);
  });

  it('applies one patch after the other when two come at once', async () => {
    const { write, plan, apply, failure } = setup();
    const path = await write('file', 'one\n');
    const [first, second] = [await plan({ file: 'two\n' }), await plan({ file: 'three\n' })];
    const [, error] = await Promise.all([apply(first), failure(second)]);
    assert.equal(error.kind, 'stale');
    assert.equal(await text(path), 'two\n');
  });

  it('tells the problems that are new in the touched files', async () => {
    const { write, plan, apply } = setup();
    const collection = vscode.languages.createDiagnosticCollection('words');
    const judge = (document: vscode.TextDocument): void => {
      const found = [...document.getText().matchAll(/bad\w*/g)].map(({ 0: word, index }) => {
        const start = document.positionAt(index);
        const diagnostic = new vscode.Diagnostic(
          new vscode.Range(start, start.translate(0, word.length)),
          `${word} is a bad word`,
        );
        diagnostic.source = 'words';
        return diagnostic;
      });
      collection.set(document.uri, found);
    };
    const subscription = vscode.workspace.onDidChangeTextDocument(({ document }) => {
      if (document.uri.scheme === 'file') {
        setTimeout(() => judge(document), 50);
      }
    });
    try {
      const path = await write('words.txt', 'bad1\nfine\n');
      judge((await vscode.window.showTextDocument(vscode.Uri.file(path))).document);
      await waitFor(
        'the first report',
        () => vscode.languages.getDiagnostics(vscode.Uri.file(path)).length === 1,
      );
      assert.deepEqual(await apply(await plan({ 'words.txt': 'above\nbad1\nfine bad2\n' })), [
        'Problems that appeared with this patch:\nwords.txt:3:6 error bad2 is a bad word [words]',
      ]);
      assert.deepEqual(await apply(await plan({ 'words.txt': 'above\nbad1\nfine\n' })), []);
    } finally {
      subscription.dispose();
      collection.dispose();
    }
  });
});

describe('unsaved text', () => {
  const setup = usePatchSetup();

  it('counts as the content of its file', async () => {
    const { write, applier } = setup();
    const path = await write('file', 'one\r\n', 0o755);
    const onDisk = await applier.files.stat(path);
    await typeInto(path, [0, 0], 'typed\n');
    const entry = await applier.files.stat(path);
    assert.deepEqual(await applier.files.read(path), Buffer.from('typed\r\none\r\n'));
    assert.ok(entry.kind === 'file' && onDisk.kind === 'file');
    assert.equal(entry.size, 12);
    assert.equal(entry.mode, 0o755);
    assert.notEqual(entry.version, onDisk.version);
  });

  it('counts at the real path when the file was opened through a link', async () => {
    const { write, path, plan, apply, applier } = setup();
    const real = await write('real', 'one\ntwo\n');
    await symlink('real', path('link'));
    await typeInto(path('link'), [1, 0], 'typed ');
    assert.equal((await applier.files.read(real)).toString(), 'one\ntyped two\n');
    await apply(await plan({ real: 'ONE\ntyped two\n' }));
    assert.equal(await text(real), 'ONE\ntyped two\n');
    assert.equal((await lstat(path('link'))).isSymbolicLink(), true);
    assert.equal(documentOf(path('link'))?.isDirty, false);
  });

  it('is nobody’s to choose when two documents of a file have some', async () => {
    const { write, path, applier } = setup();
    const real = await write('real', 'one\n');
    await symlink('real', path('link'));
    await typeInto(real, [0, 0], 'here ');
    await typeInto(path('link'), [0, 0], 'there ');
    const isBusy = (error: unknown): boolean => error instanceof FileError && error.code === 'EBUSY';
    await assert.rejects(applier.files.read(real), isBusy);
    await assert.rejects(applier.files.stat(real), isBusy);
  });

  it('that its encoding cannot write is an error, and stays', async () => {
    const { write, applier } = setup();
    const path = await write('file', 'one\n');
    await vscode.workspace.openTextDocument(vscode.Uri.file(path), { encoding: 'windows1252' });
    const { document } = await typeInto(path, [0, 0], '\u2192');
    await assert.rejects(
      applier.files.read(path),
      (error: unknown) => error instanceof FileError && error.code === 'EILSEQ',
    );
    assert.equal(document.getText(), '\u2192one\n');
    assert.equal(document.isDirty, true);
  });

  it('is merged with the patch and saved; the cursor stays', async () => {
    const { write, plan, apply } = setup();
    const path = await write('file', 'one\ntwo\nthree\n');
    const editor = await typeInto(path, [2, 0], 'typed ');
    editor.selection = new vscode.Selection(2, 3, 2, 3);
    await apply(await plan({ file: 'ONE\nmore\ntwo\ntyped three\n' }));
    assert.equal(await text(path), 'ONE\nmore\ntwo\ntyped three\n');
    assert.equal(editor.document.isDirty, false);
    assert.deepEqual([editor.selection.active.line, editor.selection.active.character], [3, 3]);
  });

  it('with CRLF is merged with the patch, too', async () => {
    const { write, plan, apply } = setup();
    const path = await write('file', 'one\r\ntwo\r\n');
    await typeInto(path, [1, 0], 'typed ');
    await apply(await plan({ file: 'ONE\r\ntyped two\r\n' }));
    assert.equal(await text(path), 'ONE\r\ntyped two\r\n');
  });

  it('comes back by undo, and is then the person’s to save', async () => {
    const { write, plan, apply } = setup();
    const path = await write('file', 'one\ntwo\n');
    const { document } = await typeInto(path, [1, 0], 'typed ');
    await apply(await plan({ file: 'ONE\ntyped two\n' }));
    await vscode.commands.executeCommand('undo');
    await waitFor('the text to come back', () => document.getText() === 'one\ntyped two\n');
    assert.equal(document.isDirty, true);
    assert.equal(await text(path), 'ONE\ntyped two\n');
  });

  it('of a document that was never saved counts, and the patch makes its file', async () => {
    const { write, path, plan, apply } = setup();
    await write('other', 'x\n');
    const uri = vscode.Uri.file(path('new')).with({ scheme: 'untitled' });
    const editor = await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri));
    await editor.edit((builder) => builder.insert(new vscode.Position(0, 0), 'one\ntwo\n'));
    await apply(await plan({ new: 'one\nTWO\n' }));
    assert.equal(await text(path('new')), 'one\nTWO\n');
  });

  for (const [name, after] of [
    ['is deleted', undefined],
    ['gets other line ends', 'typed one\r\ntwo\n'],
  ] as const) {
    it(`stops a patch in which the file ${name}, before anything is touched`, async () => {
      const { write, path, plan, failure } = setup();
      await write('other', 'x\n');
      await write('file', 'one\ntwo\n');
      const { document } = await typeInto(path('file'), [0, 0], 'typed ');
      const error = await failure(await plan({ other: 'y\n', file: after }));
      assert.match(error.message, /^file cannot be changed: it has unsaved changes/);
      assert.match(error.hint ?? '', /Save or revert it first/);
      assert.equal(document.getText(), 'typed one\ntwo\n');
      assert.equal(document.isDirty, true);
      assert.equal(await text(path('other')), 'x\n');
      assert.equal(await text(path('file')), 'one\ntwo\n');
    });
  }

  it('stops a patch that renames the file', async () => {
    const { write, path, applier, failure } = setup();
    const from = await write('from', 'one\n');
    await typeInto(from, [0, 0], 'typed ');
    const error = await failure(await planMove(applier.files, from, path('to')));
    assert.match(error.message, /^from cannot be changed: it has unsaved changes/);
    assert.equal(existsSync(path('to')), false);
  });

  it('that conflicts with the disk stops the patch; text and disk stay', async () => {
    const { write, path, plan, failure } = setup();
    const file = await write('file', 'one\ntwo\n');
    await write('other', 'x\n');
    const { document } = await typeInto(file, [0, 0], 'typed ');
    await writeFile(file, 'changed by somebody else\n');
    const error = await failure(await plan({ file: 'typed ONE\ntwo\n', other: 'y\n' }));
    assert.match(error.message, /^file could not be written: .*changed on disk/);
    assert.equal(document.getText(), 'typed one\ntwo\n');
    assert.equal(document.isDirty, true);
    assert.equal(await text(file), 'changed by somebody else\n');
    assert.equal(await text(path('other')), 'x\n');
    assert.equal(documentOf(path('other'))?.isDirty, false);
  });
});

describe('a patch that cannot be applied', () => {
  const setup = usePatchSetup();

  it('says which file changed since it was planned', async () => {
    const { write, plan, failure } = setup();
    const path = await write('file', 'one\n');
    const planned = await plan({ file: 'two\n' });
    await writeFile(path, 'three\n');
    assert.match((await failure(planned)).message, /^file changed since the patch was planned/);
    assert.equal(await text(path), 'three\n');
  });

  it('does not mind a file that was only touched', async () => {
    const { write, plan, apply } = setup();
    const path = await write('file', 'one\n');
    const planned = await plan({ file: 'two\n' });
    await writeFile(path, 'one\n');
    await apply(planned);
    assert.equal(await text(path), 'two\n');
  });

  it('says which document was typed into since', async () => {
    const { write, plan, failure } = setup();
    const path = await write('file', 'one\n');
    const planned = await plan({ file: 'two\n' });
    const { document } = await typeInto(path, [0, 0], 'typed ');
    assert.equal((await failure(planned)).kind, 'stale');
    assert.equal(document.getText(), 'typed one\n');
  });

  it('says that a new file exists already', async () => {
    const { write, plan, failure } = setup();
    const planned = await plan({ file: 'two\n' });
    await write('file', 'somebody else\n');
    assert.match((await failure(planned)).message, /^file exists now/);
  });

  it('leaves a file alone that a setting makes read-only', async () => {
    const { write, path, plan, failure } = setup();
    const locked = await write('locked', 'one\n');
    await write('other', 'x\n');
    await setSetting('files', 'readonlyInclude', { '**/locked': true });
    try {
      const error = await failure(await plan({ other: 'y\n', locked: 'two\n' }));
      assert.match(error.message, /^locked is read-only: .*files\.readonlyInclude.*"\*\*\/locked"/);
      assert.equal(await text(locked), 'one\n');
      assert.equal(await text(path('other')), 'x\n');
    } finally {
      await setSetting('files', 'readonlyInclude', undefined);
    }
  });

  it('leaves a file alone that nobody may write', async () => {
    const { write, plan, failure } = setup();
    const path = await write('locked', 'one\n', 0o444);
    assert.match((await failure(await plan({ locked: 'two\n' }))).message, /^locked is read-only/);
    assert.equal(await text(path), 'one\n');
    assert.equal(await modeOf(path), 0o444);
  });

  it('is refused where the policy says no, although the editor would do it', async () => {
    const { applier, failure } = setup();
    const outside = await createTemporaryFolder('outside');
    try {
      const path = join(outside.path, 'file');
      await writeFile(path, 'one\n');
      const entry = await applier.files.stat(path);
      assert.ok(entry.kind === 'file');
      const before = { entry, bytes: Buffer.from('one\n') };
      const change = { kind: 'update', path, name: 'file', before, after: Buffer.from('two\n') } as const;
      assert.equal((await failure(planOf([change]))).kind, 'access');
      assert.equal(await text(path), 'one\n');
    } finally {
      await outside.dispose();
    }
  });

  it('is refused when a folder became a link since', async () => {
    const { write, path, plan, failure } = setup();
    const outside = await createTemporaryFolder('outside');
    try {
      await write('folder/file', 'one\n');
      await writeFile(join(outside.path, 'file'), 'one\n');
      const planned = await plan({ 'folder/file': 'two\n', 'folder/new': 'new\n' });
      await rename(path('folder'), path('was folder'));
      await symlink(outside.path, path('folder'));
      const error = await failure(planned);
      assert.equal(error.kind, 'access');
      assert.match(error.message, /is a link now/);
      assert.equal(await text(join(outside.path, 'file')), 'one\n');
      assert.equal(existsSync(join(outside.path, 'new')), false);
    } finally {
      await outside.dispose();
    }
  });

  it('takes everything back when the editor stops half way', async () => {
    const { write, path, plan, applier, failure, checkpoints } = setup();
    await write('changed', 'one\n');
    await write('typed', 'one\ntwo\n');
    await write('deleted', 'gone\n', 0o755);
    const from = await write('from', 'moved\n');
    await vscode.window.showTextDocument(vscode.Uri.file(from), { preview: false });
    const { document } = await typeInto(path('typed'), [0, 0], 'typed ');
    const changes = await plan({
      changed: 'ONE\n',
      typed: 'typed one\nTWO\n',
      deleted: undefined,
      'folder/deep/first': 'new\n',
      second: 'new\n',
    });
    const move = await planMove(applier.files, from, path('to'));
    // The last operation of the edit meets a file that was not there before.
    const subscription = vscode.workspace.onWillCreateFiles((event) => {
      if (event.files.some(({ fsPath }) => fsPath === path('second'))) {
        event.waitUntil(write('second', 'in the way\n'));
      }
    });
    try {
      const error = await failure(planOf([...changes.changes, ...move.changes]));
      assert.equal(error.kind, 'io.write');
      assert.match(error.message, /The editor did not apply the change/);
    } finally {
      subscription.dispose();
    }
    assert.equal(await text(path('changed')), 'one\n');
    assert.equal(documentOf(path('changed'))?.getText(), 'one\n');
    assert.equal(documentOf(path('changed'))?.isDirty, false);
    assert.equal(await text(path('typed')), 'one\ntwo\n');
    assert.equal(document.getText(), 'typed one\ntwo\n');
    assert.equal(document.isDirty, true);
    assert.equal(await text(path('deleted')), 'gone\n');
    assert.equal(await modeOf(path('deleted')), 0o755);
    assert.equal(await text(from), 'moved\n');
    assert.equal(existsSync(path('to')), false);
    assert.ok(openFiles().includes(from), 'the tab of the renamed file did not come back');
    assert.equal(existsSync(path('folder')), false);
    assert.deepEqual(await checkpoints.list(), []);
    await rm(path('second'));
  });

  it('takes many files back', async () => {
    const { write, path, plan, failure } = setup();
    const names = Array.from({ length: manyFiles }, (_, index) => `file ${index}`);
    for (const name of names) {
      await write(name, `${name}\n`);
    }
    const mixed = await write('mixed', 'a\r\nb\n');
    const contents = Object.fromEntries(names.map((name) => [name, `${name} changed\n`]));
    const planned = await plan({ ...contents, mixed: 'A\r\nb\n' });
    const subscription = vscode.workspace.onDidSaveTextDocument(() => writeFile(mixed, 'somebody else\n'));
    try {
      assert.equal((await failure(planned)).kind, 'stale');
    } finally {
      subscription.dispose();
    }
    for (const name of names) {
      assert.equal(await text(path(name)), `${name}\n`);
    }
    assert.ok(vscode.workspace.textDocuments.every(({ isDirty }) => !isDirty));
  });

  it('takes the editor’s part back when the part on the disk fails', async () => {
    const { write, path, plan, failure } = setup();
    await write('plain', 'one\n');
    await write('typed', 'one\ntwo\n');
    const mixed = await write('mixed', 'a\r\nb\n');
    const { document } = await typeInto(path('typed'), [0, 0], 'typed ');
    const planned = await plan({
      plain: 'ONE\n',
      typed: 'typed one\nTWO\n',
      new: 'new\n',
      mixed: 'A\r\nb\n',
    });
    const subscription = vscode.workspace.onDidSaveTextDocument(async ({ uri }) => {
      if (uri.fsPath === path('plain')) {
        await writeFile(mixed, 'changed by somebody else\n');
      }
    });
    try {
      const error = await failure(planned);
      assert.equal(error.kind, 'stale');
      assert.match(error.message, /mixed changed since/);
    } finally {
      subscription.dispose();
    }
    assert.equal(await text(mixed), 'changed by somebody else\n');
    assert.equal(await text(path('plain')), 'one\n');
    assert.equal(documentOf(path('plain'))?.isDirty, false);
    assert.equal(existsSync(path('new')), false);
    assert.equal(document.getText(), 'typed one\ntwo\n');
    assert.equal(document.isDirty, true);
    assert.equal(await text(path('typed')), 'one\ntwo\n');
    // Nothing stands between the person and saving it.
    assert.equal(await document.save(), true);
    assert.equal(await text(path('typed')), 'typed one\ntwo\n');
  });

  it('gives the text of a never saved document back', async () => {
    const { write, path, plan, failure } = setup();
    const mixed = await write('mixed', 'a\r\nb\n');
    const uri = vscode.Uri.file(path('new')).with({ scheme: 'untitled' });
    const editor = await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri));
    await editor.edit((builder) => builder.insert(new vscode.Position(0, 0), 'typed\n'));
    const planned = await plan({ new: 'TYPED\n', mixed: 'A\r\nb\n' });
    const subscription = vscode.workspace.onDidSaveTextDocument(() => writeFile(mixed, 'somebody else\n'));
    try {
      assert.equal((await failure(planned)).kind, 'stale');
    } finally {
      subscription.dispose();
    }
    assert.equal(existsSync(path('new')), false);
    const untitled = vscode.workspace.textDocuments.find(
      (document) => document.uri.toString() === uri.toString(),
    );
    assert.equal(untitled?.getText(), 'typed\n');
  });
});

describe('a patch that a person accepted', () => {
  const setup = usePatchSetup();

  it('writes the refused places that were accepted, and no others', async () => {
    const { applier, applyReviewed, policy } = setup();
    const root = rootFolder().uri.fsPath;
    const path = join(root, '.vscode', 'accepted.json');
    const other = join(root, '.vscode', 'other.json');
    const create = (target: string) =>
      ({ kind: 'create', path: target, name: 'x', after: Buffer.from('{}\n') }) as const;
    const refusal = { path, reason: 'protected', clause: 'writableRoots', message: 'no', hint: '' } as const;
    try {
      const refused = await applier.apply({
        title: 'Test patch',
        cwd: root,
        policy,
        plan: planOf([create(path)]),
        refusals: [refusal],
      });
      assert.ok(!refused.ok && refused.error.kind === 'access');
      await assert.rejects(
        applyReviewed(planOf([create(path), create(other)]), [refusal]),
        /may not be written/,
      );
      assert.equal(existsSync(path), false);
      await applyReviewed(planOf([create(path)]), [refusal]);
      assert.equal(await text(path), '{}\n');
    } finally {
      await rm(path, { force: true });
    }
  });

  it('writes nothing where the workspace is not trusted', async () => {
    const { write, path, plan, applier, policy } = setup();
    await write('file', 'one\n');
    const untrusted = {
      ...policy,
      mode: 'read-only',
      sources: { ...policy.sources, mode: 'untrusted' },
    } as const;
    const refusal = {
      path: path('file'),
      reason: 'untrusted',
      clause: 'mode',
      message: '',
      hint: '',
    } as const;
    const applied = await applier.applyReviewed({
      title: 'Test patch',
      cwd: path(''),
      policy: untrusted,
      plan: await plan({ file: 'two\n' }),
      refusals: [refusal],
    });
    assert.ok(!applied.ok && applied.error.kind === 'access');
    assert.equal(await text(path('file')), 'one\n');
  });

  it('goes around the editor outside of every folder that is open', async () => {
    const { applier, apply, log } = setup();
    const outside = await createTemporaryFolder('outside');
    try {
      const path = join(outside.path, 'new');
      const change = { kind: 'create', path, name: 'new', after: Buffer.from('x\n') } as const;
      await apply(planOf([change]), { policy: policyOf(rootFolder().uri.fsPath, [outside.path]) });
      assert.equal(await text(path), 'x\n');
      assert.match(log.join('\n'), /because it lies outside every workspace folder/);
      assert.equal((await applier.files.stat(path)).kind, 'file');
    } finally {
      await outside.dispose();
    }
  });
});
