import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesAfter, planText, planWhole, textsAfter } from '../../harness/planText.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'apply-patch.md'), 'utf8');

/** Shown by tests on the disk, in test/runtime/patch. */
const shownOnDisk = ['a file that changed since planning is not overwritten'];

type Check = () => Promise<void>;

const checks: Readonly<Record<string, Check>> = {
  'a failing section undoes the whole patch': async () => {
    const planned = await planText(
      { 'a.txt': 'a\n' },
      '*** Add File: n.txt\n+n\n*** Delete File: missing.txt',
    );
    assert.equal(planned.ok, false);
  },
  'a rename onto itself updates in place': async () => {
    const body = '*** Update File: a.txt\n*** Move to: ./dir/../a.txt\n@@\n-a\n+b';
    assert.deepEqual(await filesAfter({ 'a.txt': 'a\n' }, body), { 'a.txt': 'b\n' });
    const linked = await filesAfter(
      { 'a.txt': 'a\n', ln: { target: 'a.txt' } },
      '*** Update File: a.txt\n*** Move to: ln\n@@\n-a\n+b',
    );
    assert.deepEqual(linked, { 'a.txt': 'b\n', ln: '-> a.txt' });
  },
  'a rename carries the permission bits': async () => {
    const planned = await planText({ 'a.txt': 'a\n' }, '*** Update File: a.txt\n*** Move to: b.txt');
    const change = planned.ok ? planned.value.plan.changes[0] : undefined;
    assert.equal(change?.kind, 'move');
    assert.equal(change.before.entry.mode, 0o644);
  },
  'names are used as written': async () => {
    const files = { 'a\tb.txt': 'tab\n', 'ab.txt': 'none\n' };
    const body = '*** Update File: a\tb.txt\n@@\n-tab\n+TAB\n*** Add File: c\rd.txt\n+cr';
    assert.deepEqual(await filesAfter(files, body), {
      'a\tb.txt': 'TAB\n',
      'ab.txt': 'none\n',
      'c\rd.txt': 'cr\n',
    });
  },
  'a link to nothing or to a folder can be deleted': async () => {
    const files = { 'dir/a.txt': 'a\n', broken: { target: 'nowhere' }, folder: { target: 'dir' } };
    const body = '*** Delete File: broken\n*** Delete File: folder';
    assert.deepEqual(await filesAfter(files, body), { 'dir/a.txt': 'a\n' });
  },
  'a file that is no text can be deleted': async () => {
    assert.deepEqual(
      await filesAfter({ 'a.bin': Buffer.from([0xff, 0, 0xfe]) }, '*** Delete File: a.bin'),
      {},
    );
  },
  'sections on one file build on each other': async () => {
    const body = [
      '*** Add File: n.txt\n+one\n*** Update File: n.txt\n@@\n-one\n+two',
      '*** Update File: n.txt\n*** Move to: m.txt\n@@\n-two\n+three',
    ];
    assert.deepEqual(await filesAfter({}, body.join('\n')), { 'm.txt': 'three\n' });
    const swap = [
      '*** Update File: a\n*** Move to: t\n*** Update File: b\n*** Move to: a',
      '*** Update File: t\n*** Move to: b',
    ];
    assert.deepEqual(await filesAfter({ a: 'A\n', b: 'B\n' }, swap.join('\n')), { a: 'B\n', b: 'A\n' });
  },
  'a blank context line stays': async () => {
    const body = '*** Update File: a.txt\n@@\n-b\n\n+B';
    assert.deepEqual(await filesAfter({ 'a.txt': 'a\nb\n' }, body), { 'a.txt': 'a\nB\n' });
    const removing = '*** Update File: a.txt\n@@\n a\n \n-';
    assert.deepEqual(await filesAfter({ 'a.txt': 'a\n\nb\n' }, removing), { 'a.txt': 'a\n\nb\n' });
  },
  'added lines go below their context': async () => {
    const body = '*** Update File: a.txt\n@@ a\n+below';
    assert.deepEqual(await filesAfter({ 'a.txt': 'a\nb\n' }, body), { 'a.txt': 'a\nbelow\nb\n' });
  },
  'stacked contexts narrow the search': async () => {
    const text = 'class A\n  def f\n    x\nclass B\n  def f\n    x\n';
    const body = '*** Update File: a.py\n@@ class B\n@@   def f\n-    x\n+    y';
    assert.deepEqual(await filesAfter({ 'a.py': text }, body), {
      'a.py': 'class A\n  def f\n    x\nclass B\n  def f\n    y\n',
    });
  },
  'a context may be the beginning or a part of one line': async () => {
    const files = { 'a.py': 'def one(x):\n  1\ndef two(x):\n  1\n' };
    for (const context of ['def two', 'two(x)']) {
      assert.deepEqual(await filesAfter(files, `*** Update File: a.py\n@@ ${context}\n-  1\n+  2`), {
        'a.py': 'def one(x):\n  1\ndef two(x):\n  2\n',
      });
    }
    assert.equal((await planText(files, '*** Update File: a.py\n@@ def\n-  1\n+  2')).ok, false);
  },
  'a body may repeat its context line': async () => {
    const body = '*** Update File: a.py\n@@ def b():\n def b():\n-  x\n+  y';
    assert.deepEqual(await filesAfter({ 'a.py': 'def b():\n  x\n' }, body), { 'a.py': 'def b():\n  y\n' });
  },
  'a chunk may begin with the last context lines of the one before': async () => {
    const body = '*** Update File: a.txt\n@@\n-a\n+A\n b\n@@\n b\n-c\n+C';
    assert.deepEqual(await filesAfter({ 'a.txt': 'a\nb\nc\n' }, body), { 'a.txt': 'A\nb\nC\n' });
  },
  'a chunk may stand above the one before': async () => {
    const body = '*** Update File: a.txt\n@@\n-c\n+C\n@@\n-a\n+A';
    assert.deepEqual(await filesAfter({ 'a.txt': 'a\nb\nc\n' }, body), { 'a.txt': 'A\nb\nC\n' });
    assert.equal((await planText({ 'a.txt': 'a\na\nc\n' }, body)).ok, false);
  },
  'an end-of-file chunk is searched elsewhere': async () => {
    const body = '*** Update File: a.txt\n@@\n-x\n+X\n*** End of File';
    assert.deepEqual(await filesAfter({ 'a.txt': 'x\ny\nx\n\n\n' }, body), { 'a.txt': 'x\ny\nX\n\n\n' });
    assert.deepEqual(await filesAfter({ 'a.txt': 'x\ny\n' }, body), { 'a.txt': 'X\ny\n' });
  },
  "a unified diff's range is no context": async () => {
    const body = '*** Update File: a.txt\n@@ -1,3 +1,3 @@ a\n-b\n+B';
    assert.deepEqual(await filesAfter({ 'a.txt': 'b\na\nb\n' }, body), { 'a.txt': 'b\na\nB\n' });
    assert.equal(
      (await planText({ 'a.txt': 'b\n' }, '*** Update File: a.txt\n@@ -1 +1 x @@\n-b\n+B')).ok,
      false,
    );
  },
  'a blank line of spaces at the end of a chunk is optional': async () => {
    const body = '*** Update File: a.txt\n@@\n-a\n+A\n   \n*** Add File: n.txt\n+n';
    assert.deepEqual(await filesAfter({ 'a.txt': 'a\nb\n' }, body), { 'a.txt': 'A\nb\n', 'n.txt': 'n\n' });
  },
  'several places are named': async () => {
    const exact = await planText({ 'a.txt': 'x\ny\nx\ny\n' }, '*** Update File: a.txt\n@@\n-y\n+z');
    assert.ok(exact.ok);
    assert.match(exact.value.plan.notes[0] ?? '', /applied at line 2, but its lines also stand at line 4/);
    const loose = await planText({ 'a.txt': 'x\n  y\nx\n\ty\n' }, '*** Update File: a.txt\n@@\n x\n-y\n+z');
    assert.ok(loose.ok);
    assert.match(loose.value.plan.notes[0] ?? '', /applied at line 1, but its lines also stand at line 3/);
  },
  'a byte order mark does not hide line one': async () => {
    const body = '*** Update File: a.txt\n@@\n-a\n+A';
    const after = await planText({ 'a.txt': '\ufeffa\nb\n' }, body);
    assert.ok(after.ok);
    const [change] = after.value.plan.changes;
    assert.equal(change?.kind === 'update' ? change.after.toString('utf8') : '', '\ufeffA\nb\n');
  },
  'a file in an unknown encoding is edited by its bytes': async () => {
    const files = { 'a.txt': Buffer.from('caf\xe9\nb\n', 'latin1') };
    assert.deepEqual(await filesAfter(files, '*** Update File: a.txt\n@@\n-b\n+\u00fc'), {
      'a.txt': 'caf\xe9\n\xfc\n',
    });
    const refused = await planText(files, '*** Update File: a.txt\n@@\n-b\n+\u20ac');
    assert.equal(refused.ok ? '' : refused.error.kind, 'encoding');
    const utf16 = { 'a.txt': Buffer.from('\ufeffb\n', 'utf16le') };
    assert.equal((await planText(utf16, '*** Update File: a.txt\n@@\n-b\n+c')).ok, false);
  },
  'an added line ends like its neighbours': async () => {
    const body = '*** Update File: a.txt\n@@\n-c\n+C\n+D';
    assert.deepEqual(await filesAfter({ 'a.txt': 'a\r\nb\nc\n' }, body), { 'a.txt': 'a\r\nb\nC\nD\n' });
    assert.deepEqual(await filesAfter({ 'a.txt': 'a\rb\nc\r\nd\n' }, body), {
      'a.txt': 'a\rb\nC\r\nD\r\nd\n',
    });
  },
  'text around the patch is ignored': async () => {
    const patch = '*** Begin Patch\n*** Add File: n\n+n\n*** End Patch';
    for (const text of [`Here it is:\n\n${patch}\nDone.`, `\`\`\`\n${patch}\n\`\`\``, `\ufeff${patch}`]) {
      assert.deepEqual(textsAfter({}, await planWhole({}, text)), { n: 'n\n' });
    }
    for (const text of [`apply_patch <<'EOF'\n${patch}\nEOF`, `${patch}\njunk\n*** End Patch`]) {
      assert.equal((await planWhole({}, text)).ok, false);
    }
  },
  'stars behind the markers are ignored': async () => {
    const text = '*** Begin Patch ***\n*** Add File: n\n+n\n*** End Patch ***';
    assert.deepEqual(textsAfter({}, await planWhole({}, text)), { n: 'n\n' });
  },
  'any here-document tag is taken off': async () => {
    const text = "<<'PATCH'\n*** Begin Patch\n*** Add File: n\n+n\n*** End Patch\nPATCH";
    assert.deepEqual(textsAfter({}, await planWhole({}, text)), { n: 'n\n' });
  },
  'several envelopes are one patch': async () => {
    const text = ['a', 'b'].map(
      (name) => `*** Begin Patch\n*** Add File: ${name}\n+${name}\n*** End Patch\n`,
    );
    assert.deepEqual(textsAfter({}, await planWhole({}, text.join('\n'))), { a: 'a\n', b: 'b\n' });
  },
  'further end markers are ignored': async () => {
    const text = '*** Begin Patch\n*** Add File: n\n+n\n*** End Patch\n*** End Patch\n*** End Patch\n';
    assert.deepEqual(textsAfter({}, await planWhole({}, text)), { n: 'n\n' });
  },
  'blank lines between sections are skipped': async () => {
    const body = '\n*** Delete File: a\n\n*** Add File: n\n+n\n';
    assert.deepEqual(await filesAfter({ a: 'a\n' }, body), { n: 'n\n' });
  },
  'a blank line inside an added file is an empty line': async () => {
    assert.deepEqual(await filesAfter({}, '*** Add File: n\n+a\n\n+b\n\n'), { n: 'a\n\nb\n' });
  },
  'the note for a missing newline is skipped': async () => {
    const body = '*** Update File: a\n@@\n-a\n\\ No newline at end of file\n+b';
    assert.deepEqual(await filesAfter({ a: 'a\n' }, body), { a: 'b\n' });
  },
  'an empty marker before another is skipped': async () => {
    assert.deepEqual(await filesAfter({ a: 'x\na\n' }, '*** Update File: a\n@@\n@@ x\n-a\n+b'), {
      a: 'x\nb\n',
    });
  },
  'a rename needs no chunk': async () => {
    assert.deepEqual(await filesAfter({ a: 'a\n' }, '*** Update File: a\n*** Move to: b'), { b: 'a\n' });
  },
};

describe('where the engine differs from the reference on purpose', () => {
  it('is what the documentation lists', () => {
    const listed = [...page.matchAll(/^\| (?!Difference|---)(.+?) +\|/gm)].map(([, name]) => name ?? '');
    assert.deepEqual(listed.sort(), [...Object.keys(checks), ...shownOnDisk].sort());
  });

  for (const [name, check] of Object.entries(checks)) {
    it(name, check);
  }
});
