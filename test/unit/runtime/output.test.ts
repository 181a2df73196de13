import assert from 'node:assert/strict';
import { EventWindow } from '../../../src/runtime/exec/eventWindow.ts';
import { HeadTailBuffer } from '../../../src/runtime/sessions/headTailBuffer.ts';
import { Screen } from '../../../src/runtime/sessions/screen.ts';
import { truncateOutput } from '../../../src/runtime/sessions/truncateOutput.ts';
import { incompleteTailLength, orphanedHeadLength } from '../../../src/runtime/sessions/utf8.ts';

const mebibyte = 1024 * 1024;

describe('HeadTailBuffer', () => {
  it('gives everything up to 1 MiB, whatever the chunks', () => {
    for (const size of [1, 7, 4096, mebibyte]) {
      const buffer = new HeadTailBuffer();
      const source = Buffer.alloc(Math.min(mebibyte, size * 5000), 'abcdefg');
      for (let at = 0; at < source.byteLength; at += size) {
        buffer.push(source.subarray(at, at + size));
      }
      const { head, tail, omittedBytes } = buffer.take();
      assert.deepEqual(Buffer.concat([head, tail]), source);
      assert.equal(omittedBytes, 0);
    }
  });

  it('keeps the first and the last half MiB exactly and counts what lay between', () => {
    for (const size of [1000, 65536, 3 * mebibyte]) {
      const source = Buffer.from(Array.from({ length: 3 * mebibyte }, (_, index) => index % 251));
      const buffer = new HeadTailBuffer();
      for (let at = 0; at < source.byteLength; at += size) {
        buffer.push(source.subarray(at, at + size));
      }
      const { head, tail, omittedBytes, totalBytes } = buffer.take();
      assert.deepEqual(Buffer.from(head), source.subarray(0, mebibyte / 2));
      assert.deepEqual(Buffer.from(tail), source.subarray(source.byteLength - mebibyte / 2));
      assert.equal(omittedBytes, 2 * mebibyte);
      assert.equal(totalBytes, 3 * mebibyte);
      assert.equal(buffer.take().totalBytes, 0);
    }
  });
});

describe('truncateOutput()', () => {
  it('leaves what fits alone', () => {
    assert.deepEqual(truncateOutput(Buffer.from('12345678'), 2), { text: '12345678', originalTokens: 2 });
    assert.deepEqual(truncateOutput(Buffer.from(''), 0), { text: '', originalTokens: 0 });
  });

  it('halves the budget between head and tail and counts the tokens left out', () => {
    assert.equal(
      truncateOutput(Buffer.from('aaaa\nbbbb\ncccc\ndddd\n'), 2).text,
      'Warning: truncated output (original token count: 5)\nTotal output lines: 4\n\naaaa…3 tokens truncated…ddd\n',
    );
  });

  it('never cuts inside a character', () => {
    for (let tokens = 1; tokens < 12; tokens++) {
      const { text } = truncateOutput(Buffer.from('€😀é'.repeat(20)), tokens);
      assert.ok(!text.includes('\uFFFD'), text);
    }
  });

  it('never gives more than 10,000 tokens', () => {
    const { text } = truncateOutput(Buffer.alloc(100_000, 'x'), 50_000);
    assert.match(text, /…15000 tokens truncated…/);
  });
});

describe('UTF-8 edges', () => {
  const table: readonly (readonly [number[], number, number])[] = [
    [[0x61], 0, 0],
    [[0xc3], 1, 0],
    [[0xe2, 0x82], 2, 0],
    [[0xe2, 0x82, 0xac], 0, 0],
    [[0xf0, 0x9f, 0x98], 3, 0],
    [[0x82, 0xac, 0x61], 0, 2],
    [[0xff], 0, 0],
    [[0xc0], 0, 0],
    [[0x80, 0x80, 0x80, 0x80], 0, 3],
    [[], 0, 0],
  ];
  for (const [bytes, incomplete, orphaned] of table) {
    it(`of <${bytes.map((byte) => byte.toString(16)).join(' ')}> are ${incomplete} at the end, ${orphaned} at the start`, () => {
      assert.equal(incompleteTailLength(Uint8Array.from(bytes)), incomplete);
      assert.equal(orphanedHeadLength(Uint8Array.from(bytes)), orphaned);
    });
  }
});

describe('EventWindow', () => {
  it('evicts whole chunks, oldest first, beyond 1 MiB and beyond 50,000 chunks', async () => {
    const bytes = new EventWindow();
    for (let count = 0; count < 5; count++) {
      bytes.output('stdout', Buffer.alloc(mebibyte / 4 + 1));
    }
    assert.deepEqual((await bytes.read({ afterSeq: 0 })).gap, { fromSeq: 1, toSeq: 2 });
    const chunks = new EventWindow();
    for (let count = 0; count < 50_010; count++) {
      chunks.output('stdout', Buffer.from('x'));
    }
    const read = await chunks.read({ afterSeq: 5 });
    assert.deepEqual(read.gap, { fromSeq: 6, toSeq: 10 });
    assert.equal(read.chunks.length, 50_000);
    assert.equal((await chunks.read({ afterSeq: 20 })).gap, undefined);
  });

  it('gives at least one chunk however small maxBytes is', async () => {
    const window = new EventWindow();
    window.output('stdout', Buffer.from('long'));
    window.output('stderr', Buffer.from('next'));
    const { chunks, nextSeq } = await window.read({ afterSeq: 0, maxBytes: 1 });
    assert.equal(chunks.length, 1);
    assert.equal(nextSeq, 2);
  });
});

describe('Screen.takeText()', () => {
  const size = { columns: 20, rows: 5 };
  const at = async (screen: Screen, text: string): Promise<string> => {
    screen.write(Buffer.from(text));
    return screen.takeText();
  };

  it('gives what changed since the last call, scrolled lines included', async () => {
    const screen = new Screen({ size });
    assert.equal(await at(screen, 'one\r\ntwo\r\n'), 'one\ntwo');
    assert.equal(await at(screen, 'three\r\n4\r\n5\r\n6\r\n7\r\n8\r\n'), 'three\n4\n5\n6\n7\n8');
    assert.equal(await at(screen, ''), '');
  });

  it('gives a changed line again, such as a prompt that was answered', async () => {
    const screen = new Screen({ size });
    assert.equal(await at(screen, 'Name: '), 'Name: ');
    assert.equal(await at(screen, 'Ada\r\nAge: '), 'Name: Ada\nAge: ');
  });

  it('starts at a row above the last answer when the program moved up to change it', async () => {
    const screen = new Screen({ size });
    await at(screen, 'a 0%\r\nb 0%\r\n');
    assert.equal(await at(screen, '\u001b[2Aa 100%\r\nb 50%\r\n'), 'a 100%\nb 50%');
  });

  it('gives a full-screen program as one screen each time', async () => {
    const screen = new Screen({ size });
    await at(screen, 'shell\r\n');
    const full = '\u001b[?1049h\u001b[H\u001b[2Jtitle\u001b[3;1Hbody';
    assert.equal(await at(screen, full), 'title\n\nbody');
    assert.equal(await at(screen, ''), 'title\n\nbody');
    assert.equal(await at(screen, '\u001b[?1049lback\r\n'), 'back');
  });

  it('answers queries of the program', async () => {
    const replies: string[] = [];
    const screen = new Screen({ size, onReply: (reply) => replies.push(reply) });
    await at(screen, 'ab\u001b[6n');
    assert.deepEqual(replies, ['\u001b[1;3R']);
  });

  it('bounds what waits for the emulator and ends with the newest lines', async () => {
    const screen = new Screen({ size });
    for (let chunk = 0; chunk < 400; chunk++) {
      screen.write(Buffer.from('some line\r\n'.repeat(6_000)));
    }
    assert.match(await at(screen, 'the last line\r\n'), /some line\nthe last line$/);
  });
});
