import assert from 'node:assert/strict';
import { fileChangesOf } from '../../../src/patch/apply/fileChanges.ts';
import type { FileChange, FileEntry } from '../../../src/patch/files/fileSystem.ts';
import type { FileBefore, MoveChange, PlannedChange } from '../../../src/patch/plan/plan.ts';

const missing = { kind: 'missing' } as const;
const link = { kind: 'link', target: 'x' } as const;
const old = file('old', 0o640);
const other = file('other', 0o600);
const after = Buffer.from('new');

const move: MoveChange = {
  kind: 'move',
  path: '/a',
  name: 'a',
  before: old,
  sourceEntry: old.entry,
  toPath: '/b',
  toName: 'b',
  after: Buffer.from('old'),
};

const cases: readonly (readonly [string, readonly PlannedChange[], readonly FileChange[]])[] = [
  [
    'a new file',
    [{ kind: 'create', path: '/a', name: 'a', after, mode: 0o755 }],
    [{ kind: 'write', path: '/a', expected: missing, bytes: after, mode: 0o755 }],
  ],
  [
    'a new file in the place of a link',
    [{ kind: 'create', path: '/a', name: 'a', after, replaces: link }],
    [
      { kind: 'remove', path: '/a', expected: link },
      { kind: 'write', path: '/a', expected: missing, bytes: after, mode: undefined },
    ],
  ],
  [
    'new content',
    [{ kind: 'update', path: '/a', name: 'a', before: old, after, mode: 'new' }],
    [{ kind: 'write', path: '/a', expected: old.entry, bytes: after, mode: 'new' }],
  ],
  [
    'a removal',
    [{ kind: 'delete', path: '/a', name: 'a', before: { entry: link } }],
    [{ kind: 'remove', path: '/a', expected: link }],
  ],
  [
    'a move of the same content',
    [{ ...move, replaced: other }],
    [{ kind: 'rename', path: '/a', expected: old.entry, toPath: '/b', toExpected: other.entry }],
  ],
  [
    'a move with new content, which keeps the mode',
    [{ ...move, after }],
    [
      { kind: 'write', path: '/b', expected: missing, bytes: after, mode: 0o640 },
      { kind: 'remove', path: '/a', expected: old.entry },
    ],
  ],
  [
    'a move of a link, which leaves its target',
    [{ ...move, sourceEntry: link }],
    [
      { kind: 'write', path: '/b', expected: missing, bytes: move.after, mode: 0o640 },
      { kind: 'remove', path: '/a', expected: link },
    ],
  ],
  [
    'moves one after the other, which find what those before left',
    [
      { ...move, path: '/b', toPath: '/c', before: other, sourceEntry: other.entry, after: other.bytes },
      { ...move, replaced: other },
    ],
    [
      { kind: 'rename', path: '/b', expected: other.entry, toPath: '/c', toExpected: missing },
      { kind: 'rename', path: '/a', expected: old.entry, toPath: '/b', toExpected: missing },
    ],
  ],
  [
    'a move with new content to where an earlier one left',
    [
      { ...move, path: '/b', toPath: '/c', before: other, sourceEntry: other.entry, after: other.bytes },
      { ...move, replaced: other, after },
    ],
    [
      { kind: 'rename', path: '/b', expected: other.entry, toPath: '/c', toExpected: missing },
      { kind: 'write', path: '/b', expected: missing, bytes: after, mode: 0o640 },
      { kind: 'remove', path: '/a', expected: old.entry },
    ],
  ],
];

describe('fileChangesOf()', () => {
  for (const [what, changes, expected] of cases) {
    it(`gives ${what}`, () => {
      const summary = { added: [], modified: [], deleted: [] };
      assert.deepEqual(fileChangesOf({ changes, summary, notes: [] }), expected);
    });
  }
});

function file(text: string, mode: number): FileBefore {
  const entry: FileEntry = { kind: 'file', mode, size: text.length, version: text };
  return { entry, bytes: Buffer.from(text) };
}
