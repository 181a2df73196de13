import assert from 'node:assert/strict';
import {
  FrameReader,
  frameOf,
  messageFrame,
  parseQuestion,
} from '../../../../src/runtime/children/partFrames.ts';

const question = (text: string): Buffer => Buffer.from(text, 'latin1');

describe('the frames of parts', () => {
  it('are found however they are cut', () => {
    const bytes = Buffer.concat([
      frameOf('A', Buffer.from('one')),
      frameOf('S', Uint8Array.of(2)),
      frameOf('R'),
    ]);
    for (const size of [1, 3, 7, bytes.length]) {
      const reader = new FrameReader();
      const found: string[] = [];
      for (let at = 0; at < bytes.length; at += size) {
        const frames = reader.read(bytes.subarray(at, at + size));
        assert.ok(frames);
        found.push(...frames.map(({ letter, rest }) => letter + rest.toString()));
      }
      assert.deepEqual(found, ['Aone', 'S\u0002', 'R']);
    }
  });

  it('have a letter and an end', () => {
    assert.equal(new FrameReader().read(Buffer.from([0, 0, 0, 0])), undefined);
    assert.equal(new FrameReader().read(Buffer.from([1, 0, 2, 0])), undefined);
  });

  it('carry messages that the other side can take', () => {
    assert.ok(messageFrame('D', 'long '.repeat(10_000)).length < 8192);
  });
});

describe('a question about a part', () => {
  it('has a folder and words', () => {
    assert.deepEqual(parseQuestion(question('t/a b\0git\0push\0\0')), {
      cwd: '/a b',
      argv: ['git', 'push', ''],
      isTerminal: true,
    });
    assert.equal(parseQuestion(question('p/a\0git\0'))?.isTerminal, false);
  });

  for (const [what, bytes] of [
    ['nothing', ''],
    ['no words', 'p/a\0'],
    ['no program', 'p/a\0\0push\0'],
    ['a relative folder', 'pa\0git\0'],
    ['no end', 'p/a\0git'],
    ['bytes that are no text', 'p/a\0git\0\xff\0'],
  ] as const) {
    it(`is none with ${what}`, () => {
      assert.equal(parseQuestion(question(bytes)), undefined);
    });
  }
});
