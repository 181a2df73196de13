import assert from 'node:assert/strict';
import type { LineEdit, PlannedChange } from '../../../src/patch/plan/plan.ts';
import { withSoundEdits } from '../../../src/patch/plan/soundEdits.ts';

describe('a change that another machine has planned', () => {
  const entry = { kind: 'file', mode: 0o644, size: 4, version: '1' } as const;
  const update = (edits: readonly LineEdit[]): PlannedChange => ({
    kind: 'update',
    path: '/p/a',
    name: 'a',
    before: { entry, bytes: Buffer.from('a\nb\n') },
    after: Buffer.from('a\nB\n'),
    edits,
  });
  const move = (edits: readonly LineEdit[]): PlannedChange => ({
    ...update(edits),
    kind: 'move',
    before: { entry, bytes: Buffer.from('a\nb\n') },
    after: Buffer.from('a\nB\n'),
    sourceEntry: entry,
    toPath: '/p/b',
    toName: 'b',
  });

  it('keeps the edits that lead from one content to the other', () => {
    const edits = [{ start: 1, removed: 1, added: ['B\n'] }];
    for (const change of [update(edits), move(edits)]) {
      assert.deepEqual(withSoundEdits(change), change);
    }
  });

  it('loses those that lead elsewhere, leave the file, go back or are no lines at all', () => {
    const wrong: readonly (readonly LineEdit[])[] = [
      [],
      [{ start: 1, removed: 1, added: ['harmless\n'] }],
      [{ start: 2 ** 50, removed: 0, added: [] }],
      [{ start: 1, removed: 2 ** 50, added: ['B\n'] }],
      [{ start: 1, removed: -(2 ** 50), added: ['B\n'] }],
      [{ start: 0.5, removed: 1, added: ['B\n'] }],
      [
        { start: 1, removed: 1, added: ['B\n'] },
        { start: 0, removed: 0, added: [] },
      ],
    ];
    for (const edits of wrong) {
      for (const change of [update(edits), move(edits)]) {
        assert.deepEqual(withSoundEdits(change), { ...change, edits: undefined });
      }
    }
  });
});
