import assert from 'node:assert/strict';
import { parsePatch } from '../../../src/patch/format/parsePatch.ts';
import { planPatch } from '../../../src/patch/plan/planPatch.ts';
import type { PlannedChange } from '../../../src/patch/plan/plan.ts';
import { selectChanges } from '../../../src/patch/plan/selectChanges.ts';
import { applyEdits, splitLines } from '../../../src/patch/text/lines.ts';
import { readOnlyFiles, treeOf } from '../../harness/memoryFiles.ts';
import type { TextFiles } from '../../harness/planText.ts';
import { filesAfter, planText } from '../../harness/planText.ts';
import { Random } from '../../harness/random.ts';
import { randomFiles, randomPatch } from '../../harness/randomPatches.ts';

async function changesOf(files: TextFiles, body: string): Promise<readonly PlannedChange[]> {
  const planned = await planText(files, body);
  assert.ok(planned.ok, planned.ok ? '' : planned.error.message);
  return planned.value.plan.changes;
}

async function errorOf(files: TextFiles, body: string) {
  const planned = await planText(files, body);
  assert.ok(!planned.ok);
  return planned.error;
}

describe('planPatch()', () => {
  it('names each entry once, by its net effect', async () => {
    const files = { a: 'a\n', b: 'b\n', 'dir/c': 'c\n' };
    const body = [
      '*** Add File: temporary\n+t\n*** Delete File: temporary',
      '*** Update File: a\n*** Move to: moved\n@@\n-a\n+A\n*** Update File: moved\n@@\n-A\n+AA',
      '*** Delete File: b\n*** Add File: b\n+fresh\n*** Update File: dir/c\n@@\n-c\n+C',
    ].join('\n');
    const changes = await changesOf(files, body);
    assert.deepEqual(
      changes.map((change) => [change.kind, change.path, 'after' in change ? change.after.toString() : '']),
      [
        ['move', '/tree/a', 'AA\n'],
        ['update', '/tree/b', 'fresh\n'],
        ['update', '/tree/dir/c', 'C\n'],
      ],
    );
    assert.equal(changes[1]?.kind === 'update' ? changes[1].mode : '', 'new');
  });

  it('gives edits that lead from the old lines to the new ones', async () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const random = new Random(seed);
      const files = randomFiles(random);
      const tree = treeOf(
        Object.fromEntries(Object.entries(files).map(([name, text]) => [`/tree/${name}`, text])),
      );
      const patch = parsePatch(randomPatch(random, files));
      const planned = patch.ok
        ? await planPatch(patch.value, { files: readOnlyFiles(tree), cwd: '/tree' })
        : undefined;
      for (const change of planned?.ok === true ? planned.value.plan.changes : []) {
        if (change.kind === 'update' || change.kind === 'move') {
          const lines = splitLines(change.before.bytes.toString('utf8'));
          assert.equal(
            applyEdits(lines, change.edits ?? []).join(''),
            change.after.toString('utf8'),
            `seed ${seed}`,
          );
        }
      }
    }
  });

  it('follows links to where a file really is, and removes a link instead of its target', async () => {
    const files = {
      'real/a': 'a\n',
      'real/b': 'b\n',
      dir: { target: 'real' },
      ln: { target: 'dir/../real/b' },
    };
    const body = '*** Update File: dir/a\n@@\n-a\n+A\n*** Update File: ln\n@@\n-b\n+B';
    const changes = await changesOf(files, body);
    assert.deepEqual(
      changes.map(({ path }) => path),
      ['/tree/real/a', '/tree/real/b'],
    );
    assert.deepEqual(await filesAfter(files, '*** Delete File: ln'), {
      'real/a': 'a\n',
      'real/b': 'b\n',
      dir: '-> real',
    });
    const loop = await errorOf({ l: { target: 'l' } }, '*** Update File: l\n@@\n-a\n+b');
    assert.match(loop.message, /Symbolic link loop \(os error 40\)$/);
  });

  it('judges where a write really goes, not what it is called', async () => {
    const files = readOnlyFiles(treeOf({ '/tree/ln': { target: '../outside' }, '/outside/x': 'x\n' }));
    const patch = parsePatch(
      '*** Begin Patch\n*** Add File: ln/n\n+n\n*** Update File: ln/x\n*** Move to: y\n*** End Patch',
    );
    assert.ok(patch.ok);
    const planned = await planPatch(patch.value, {
      files,
      cwd: '/tree',
      access: (path) =>
        path.startsWith('/tree/')
          ? undefined
          : { path, reason: 'outside', clause: 'writableRoots', message: 'no', hint: 'no' },
    });
    assert.ok(planned.ok);
    assert.deepEqual(
      planned.value.refusals.map(({ path }) => path),
      ['/outside/n', '/outside/x'],
    );
  });

  it('compares no patch with a file that commands may not read, by whatever name', async () => {
    const tree = treeOf({ '/tree/.env': 'TOKEN=1\n', '/tree/ln': { target: '.env' } });
    const readAccess = (path: string) =>
      path === '/tree/.env' || path === '/tree/gone'
        ? ({ path, clause: 'files', message: 'hidden', hint: 'open it' } as const)
        : undefined;
    const bodies = [
      '*** Update File: .env\n@@\n-TOKEN=?\n+x',
      '*** Update File: ln\n@@\n-TOKEN=?\n+x',
      '*** Update File: .env\n*** Move to: shown\n@@\n-TOKEN=1\n+x',
      '*** Update File: gone\n@@\n-TOKEN=?\n+x',
    ];
    for (const body of bodies) {
      const patch = parsePatch(`*** Begin Patch\n${body}\n*** End Patch`);
      assert.ok(patch.ok);
      const planned = await planPatch(patch.value, { files: readOnlyFiles(tree), cwd: '/tree', readAccess });
      assert.ok(!planned.ok, body);
      assert.equal(planned.error.kind, 'access');
      assert.match(planned.error.message, /^Failed to read file to update .*: hidden \(clause: files\)$/);
      assert.equal(planned.error.hint, 'open it');
    }
    const without = parsePatch(`*** Begin Patch\n${bodies[0]}\n*** End Patch`);
    assert.ok(without.ok);
    const quoted = await planPatch(without.value, { files: readOnlyFiles(tree), cwd: '/tree' });
    assert.match(quoted.ok ? '' : (quoted.error.hint ?? ''), /TOKEN=1/);
  });

  it('tells the nearest lines of the file when a chunk has no place', async () => {
    const text = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`).join('\n');
    const error = await errorOf(
      { a: `${text}\n` },
      '*** Update File: a\n@@\n line 20\n-line twenty-one\n+x\n line 22',
    );
    assert.equal(error.kind, 'match.lines_not_found');
    assert.equal(
      error.message,
      'Failed to find expected lines in /tree/a:\nline 20\nline twenty-one\nline 22',
    );
    assert.equal(error.line, 3);
    assert.match(
      error.hint ?? '',
      /20 \| line 20\n21 \| line 21 {4}<- the patch has: line twenty-one\n22 \| line 22/,
    );
    const context = await errorOf(
      { a: 'function greet(name) {\n}\n' },
      '*** Update File: a\n@@ function greets(name) {\n+x',
    );
    assert.match(context.hint ?? '', /1 \| function greet\(name\) \{/);
    const nothing = await errorOf({ a: 'one\n' }, '*** Update File: a\n@@\n-completely different\n+x');
    assert.match(nothing.hint ?? '', /Read the file again/);
  });

  it('names the section at fault by its line', async () => {
    const error = await errorOf({}, '*** Add File: n\n+n\n*** Delete File: gone');
    assert.deepEqual(
      [error.kind, error.line, error.message],
      ['io.delete', 4, 'Failed to delete file /tree/gone'],
    );
    assert.equal((await errorOf({}, '*** Add File: a\0b\n+n')).kind, 'path.invalid');
    assert.equal((await errorOf({ f: 'f\n' }, '*** Add File: f/n\n+n')).kind, 'io.write');
    assert.equal((await errorOf({ 'd/f': 'f\n' }, '*** Add File: d\n+n')).kind, 'io.write');
  });
});

describe('selectChanges()', () => {
  it('applies what was accepted, with the content that the person gave it', async () => {
    const planned = await planText(
      { a: 'a\n', b: 'b\n', c: 'c\n' },
      '*** Update File: a\n@@\n-a\n+A\n*** Update File: b\n@@\n-b\n+B\n*** Delete File: c',
    );
    assert.ok(planned.ok);
    const { plan } = planned.value;
    const [a, b, c] = plan.changes as [PlannedChange, PlannedChange, PlannedChange];
    const selected = selectChanges(
      plan,
      new Map<PlannedChange, 'rejected' | Buffer>([
        [a, 'rejected'],
        [b, Buffer.from('mine\n')],
        [c, Buffer.from('kept\n')],
      ]),
    );
    assert.deepEqual(
      selected.changes.map((change) => [
        change.kind,
        change.name,
        'after' in change ? change.after.toString() : '',
      ]),
      [
        ['update', 'b', 'mine\n'],
        ['update', 'c', 'kept\n'],
      ],
    );
    assert.deepEqual(selected.summary, { added: [], modified: ['b', 'c'], deleted: [] });
    assert.equal(selectChanges(plan, new Map()), plan);
    assert.deepEqual(selectChanges(plan, new Map([[a, Buffer.from('a\n')]])).changes, [b, c]);
  });
});
