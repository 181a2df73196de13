import assert from 'node:assert/strict';
import { editRoute, entangledChanges, textObstacle } from '../../../src/patch/apply/editRoute.ts';
import type { RouteFacts, TextFacts } from '../../../src/patch/apply/editRoute.ts';
import type { PlannedChange } from '../../../src/patch/plan/plan.ts';

const bytes = (text: string): Buffer => Buffer.from(text);
const file = (text: string, mode = 0o644) => ({
  entry: { kind: 'file', mode, size: text.length, version: '1' } as const,
  bytes: bytes(text),
});

const create = { kind: 'create', path: '/r/a', name: 'a', after: bytes('x\n') } as const;
const update = { kind: 'update', path: '/r/a', name: 'a', before: file('x\n'), after: bytes('y\n') } as const;
const remove = { kind: 'delete', path: '/r/a', name: 'a', before: file('x\n') } as const;
const move = {
  kind: 'move',
  path: '/r/a',
  name: 'a',
  before: file('x\n'),
  sourceEntry: file('x\n').entry,
  toPath: '/r/b',
  toName: 'b',
  after: bytes('x\n'),
} as const;
const link = { kind: 'link', target: 'x' } as const;
const large = Buffer.alloc(5 * 1024 * 1024 + 1);
const long = bytes('\n'.repeat(50_001));

describe('editRoute()', () => {
  const cases: readonly (readonly [
    what: string,
    change: PlannedChange,
    facts: Partial<RouteFacts>,
    kind: 'edit' | 'engine' | 'refused',
    reason?: RegExp,
  ])[] = [
    ['a new file', create, {}, 'edit'],
    ['an update', update, {}, 'edit'],
    ['a deletion', remove, {}, 'edit'],
    ['a plain rename', move, {}, 'edit'],
    ['a new file in place of a link', { ...create, replaces: link }, {}, 'engine', /link/],
    ['a new file with permissions to carry', { ...create, mode: 0o755 }, {}, 'engine', /permissions/],
    ['a new file with the usual permissions', { ...create, mode: 0o644 }, {}, 'edit'],
    ['a large new file', { ...create, after: large }, {}, 'engine', /large/],
    ['an update with other permissions', { ...update, mode: 0o755 }, {}, 'engine', /permissions/],
    ['an update to those of a new file', { ...update, mode: 'new' }, { newFileMode: 0o600 }, 'engine'],
    ['an update to the same permissions', { ...update, mode: 'new' }, {}, 'edit'],
    ['a file with two names', update, { links: 2 }, 'engine', /hard links/],
    [
      'an update of a large file',
      { ...update, before: { ...file(''), bytes: large } },
      {},
      'engine',
      /large/,
    ],
    ['an update to a large file', { ...update, after: large }, {}, 'engine', /large/],
    ['an update of a long file', { ...update, after: long }, {}, 'engine', /large/],
    ['the deletion of a link', { ...remove, before: { entry: link } }, {}, 'engine', /link/],
    [
      'the deletion of a large file',
      { ...remove, before: { ...file(''), bytes: large } },
      {},
      'engine',
      /large/,
    ],
    ['a rename with new content', { ...move, after: bytes('y\n') }, {}, 'engine', /renamed and edited/],
    ['a rename over another file', { ...move, replaced: file('z') }, {}, 'engine', /replaces/],
    ['a rename of a link', { ...move, sourceEntry: link }, {}, 'engine', /link/],
    ['anything outside the folders', create, { isInWorkspace: false }, 'engine', /outside/],
    ['changes that depend on each other', update, { isEntangled: true }, 'engine', /same place/],
    ['unsaved text', update, { isDirty: true }, 'edit'],
    ['unsaved text outside the folders', update, { isDirty: true, isInWorkspace: false }, 'edit'],
    ['unsaved text of a file with two names', update, { isDirty: true, links: 2 }, 'edit'],
    ['unsaved text that gets large', { ...update, after: large }, { isDirty: true }, 'refused', /large/],
    [
      'unsaved text and other permissions',
      { ...update, mode: 0o755 },
      { isDirty: true },
      'refused',
      /permissions/,
    ],
    ['unsaved text and more changes', update, { isDirty: true, isEntangled: true }, 'refused', /same place/],
    ['a deletion of unsaved text', remove, { isDirty: true }, 'refused', /lose/],
    ['a rename of unsaved text', move, { isDirty: true }, 'refused', /unasked/],
    ['a rename over unsaved text', move, { isDestinationDirty: true }, 'refused', /destination/],
    ['a new file over unsaved text', create, { isDirty: true }, 'refused', /already/],
  ];
  for (const [what, change, facts, kind, reason] of cases) {
    it(`gives ${kind} for ${what}`, () => {
      const route = editRoute(change, {
        isDirty: false,
        isDestinationDirty: false,
        isInWorkspace: true,
        newFileMode: 0o644,
        links: 1,
        isEntangled: false,
        ...facts,
      });
      assert.equal(route.kind, kind);
      assert.match('reason' in route ? route.reason : '', reason ?? /^/);
    });
  }
});

describe('textObstacle()', () => {
  const facts: TextFacts = {
    before: bytes('a\n'),
    savedBefore: bytes('a\n'),
    after: bytes('b\n'),
    textAfter: 'b\n',
    savedAfter: bytes('b\n'),
    encoding: 'utf8',
    lineEnd: '\n',
  };
  const cases: readonly (readonly [what: string, facts: Partial<TextFacts>, reason: RegExp | undefined])[] = [
    ['what is saved as it was', {}, undefined],
    ['what the editor does not open', { savedBefore: undefined }, /binary/],
    ['mixed line ends', { before: bytes('a\r\nb\n') }, /mixed/],
    ['a lone CR', { before: bytes('a\rb') }, /mixed/],
    ['UTF-16 without a mark', { before: Buffer.from('a\r\n', 'utf16le'), encoding: 'utf16le' }, /utf16le/],
    ['bytes that would be saved otherwise', { before: Buffer.from([0xe9]) }, /bytes .* utf8/],
    ['a binary result', { textAfter: undefined, savedAfter: undefined }, /cannot be written/],
    ['a result in another encoding', { savedAfter: bytes('?') }, /cannot be written/],
    ['CRLF in a file with LF', { textAfter: 'b\r\n' }, /line ends/],
    ['LF in a file with CRLF', { textAfter: 'b\r\nc\n', lineEnd: '\r\n' }, /line ends/],
    ['a lone CR in a file with CRLF', { textAfter: 'b\rc\r\n', lineEnd: '\r\n' }, /line ends/],
    ['CRLF in a file with CRLF', { textAfter: 'b\r\n', lineEnd: '\r\n' }, undefined],
  ];
  for (const [what, more, reason] of cases) {
    it(`${reason === undefined ? 'accepts' : 'names'} ${what}`, () => {
      const changed = { ...facts, ...more };
      // The text decides where only the text is given.
      const same =
        more.textAfter !== undefined
          ? { after: bytes(more.textAfter), savedAfter: bytes(more.textAfter) }
          : {};
      const obstacle = textObstacle({ ...changed, ...same });
      if (reason === undefined) {
        assert.equal(obstacle, undefined);
      } else {
        assert.match(obstacle ?? '', reason);
      }
    });
  }
});

describe('entangledChanges()', () => {
  const at = (path: string): PlannedChange => ({ ...create, path });
  const names = (changes: readonly PlannedChange[]): readonly string[] => {
    const entangled = entangledChanges(changes);
    return changes.filter((change) => entangled.has(change)).map(({ path }) => path);
  };

  it('leaves changes at places of their own alone', () => {
    assert.deepEqual(names([at('/r/a'), at('/r/a-b'), at('/r/ab'), at('/r/b/a')]), []);
  });

  it('finds a place that two changes concern', () => {
    assert.deepEqual(names([at('/r/b'), at('/r/c'), { ...move, path: '/r/a', toPath: '/r/b' }]), [
      '/r/b',
      '/r/a',
    ]);
  });

  it('finds what lies below another place, whatever is sorted between them', () => {
    assert.deepEqual(names([at('/r/a/x'), at('/r/a-b'), { ...remove, path: '/r/a' }]), ['/r/a/x', '/r/a']);
  });

  it('does not take both places of one rename for two changes', () => {
    assert.deepEqual(names([{ ...move, path: '/r/a', toPath: '/r/a/b' }]), []);
  });
});
