import assert from 'node:assert/strict';
import { parsePatch } from '../../../src/patch/format/parsePatch.ts';
import { PatchStream } from '../../../src/patch/format/patchStream.ts';
import { Random } from '../../harness/random.ts';
import { randomFiles, randomPatch } from '../../harness/randomPatches.ts';

function parsed(text: string) {
  const result = parsePatch(text);
  assert.ok(result.ok, result.ok ? '' : result.error.message);
  return result.value;
}

describe('parsePatch()', () => {
  it('gives sections, chunks, contexts and the lines of the patch they are in', () => {
    const patch = parsed(
      '\n*** Begin Patch\n*** Environment ID: box\n*** Add File: a b.txt \n+one\n+\n*** Delete File: c\n' +
        '*** Update File: d\n*** Move to: e\n@@ class A\n@@   def f\n keep\n-old\n+new\n\n*** End of File\n@@\n+x\n*** End Patch\n\n',
    );
    assert.deepEqual(patch, {
      environmentId: 'box',
      notes: [],
      sections: [
        { kind: 'add', path: 'a b.txt', line: 3, lines: ['one', ''] },
        { kind: 'delete', path: 'c', line: 6 },
        {
          kind: 'update',
          path: 'd',
          line: 7,
          movePath: 'e',
          chunks: [
            {
              line: 9,
              contexts: ['class A', '  def f'],
              isEndOfFile: true,
              lines: [
                { sign: ' ', text: 'keep' },
                { sign: '-', text: 'old' },
                { sign: '+', text: 'new' },
                { sign: ' ', text: '' },
              ],
            },
            { line: 16, contexts: [], isEndOfFile: false, lines: [{ sign: '+', text: 'x' }] },
          ],
        },
      ],
    });
  });

  const refused: readonly (readonly [text: string, kind: string, line?: number])[] = [
    ['', 'parse.end_marker'],
    ['*** Begin Patch', 'parse.end_marker'],
    ['*** begin patch\n*** End Patch', 'parse.begin_marker'],
    ['*** Add File: a\n+a\n*** End Patch', 'parse.begin_marker'],
    ['*** Begin Patch\n*** Rename File: a\n*** End Patch', 'parse.bad_hunk_header', 2],
    ['*** Begin Patch\n*** Add File:a\n+a\n*** End Patch', 'parse.bad_hunk_header', 2],
    ['*** Begin Patch\n*** Add File: a\n+a\nb\n*** End Patch', 'parse.bad_hunk_header', 4],
    ['*** Begin Patch\n*** Delete File: a\n-a\n*** End Patch', 'parse.bad_hunk_header', 3],
    ['*** Begin Patch\n*** Update File: a\n*** End Patch', 'parse.empty_update', 2],
    ['*** Begin Patch\n*** Update File: a\n@@\n*** End Patch', 'parse.empty_chunk', 4],
    ['*** Begin Patch\n*** Update File: a\n@@\n*** End of File\n*** End Patch', 'parse.empty_chunk', 4],
    ['*** Begin Patch\n*** Update File: a\n@@\nx\n*** End Patch', 'parse.bad_update_line', 4],
    ['*** Begin Patch\n*** Update File: a\n@@\n x\ny\n*** End Patch', 'parse.expected_context_marker', 5],
    ['*** Begin Patch\n*** Environment ID:\n*** End Patch', 'parse.environment_id', 2],
    ['```\n*** Begin Patch\n*** Update File: a\n@@\nx\n*** End Patch\n```', 'parse.bad_update_line', 4],
  ];
  for (const [text, kind, line] of refused) {
    it(`refuses ${JSON.stringify(text)} as ${kind}`, () => {
      const result = parsePatch(text);
      assert.ok(!result.ok);
      assert.equal(result.error.kind, kind);
      assert.equal(result.error.line, line);
    });
  }

  it('reads lines that end in CR LF or in two CRs as their text', () => {
    const patch = parsed('*** Begin Patch\r\n*** Add File: a\r\n+one\r\r\n+two\r\r\r\n*** End Patch\r\n');
    assert.deepEqual(patch.sections, [{ kind: 'add', path: 'a', line: 2, lines: ['one', 'two\r'] }]);
  });
});

describe('PatchStream', () => {
  const text = [
    '*** Begin Patch\n*** Update File: a\n@@\n-a\n+b\n@@\n-c\n+d\n',
    '*** Add File: n\n+n\n*** Delete File: x\n*** End Patch\n',
  ].join('');

  it('gives a chunk when the next begins, and a section when it is over', () => {
    const stream = new PatchStream();
    const kinds = text.split(/(?<=\n)/).map((line) => stream.feed(line).map(({ kind }) => kind));
    assert.deepEqual(kinds, [
      [],
      [],
      [],
      [],
      [],
      ['chunk'],
      [],
      [],
      ['chunk', 'section'],
      [],
      ['section'],
      ['section'],
    ]);
  });

  it('gives in pieces of any size what the whole text has', () => {
    for (let seed = 1; seed <= 100; seed += 1) {
      const random = new Random(seed);
      const patch = randomPatch(random, randomFiles(random));
      const stream = new PatchStream();
      const sections = [];
      let chunks = 0;
      for (let at = 0; at < patch.length;) {
        const end = at + random.integer(1, 20);
        for (const hunk of stream.feed(patch.slice(at, end))) {
          if (hunk.kind === 'section') {
            sections.push(hunk.section);
          } else {
            chunks += 1;
          }
        }
        at = end;
      }
      const whole = stream.finish();
      assert.deepEqual(whole, parsePatch(patch));
      if (whole.ok) {
        assert.deepEqual(sections, whole.value.sections);
        const all = whole.value.sections.flatMap((section) =>
          section.kind === 'update' ? section.chunks : [],
        );
        assert.equal(chunks, all.length);
      }
    }
  });

  it('gives nothing of a text that it cannot follow, and still parses it in the end', () => {
    const stream = new PatchStream();
    assert.deepEqual(stream.feed(`Here:\n${text}`), []);
    assert.ok(stream.finish().ok);
  });
});
