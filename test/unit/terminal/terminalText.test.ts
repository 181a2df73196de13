import assert from 'node:assert/strict';
import { TerminalText } from '../../../src/terminal/terminalText.ts';

function decode(isTty: boolean, ...chunks: (string | number[])[]): string {
  const text = new TerminalText(isTty);
  return chunks.map((chunk) => text.decode(Buffer.from(chunk as string))).join('');
}

describe('TerminalText', () => {
  it('returns the carriage for a bare LF of a pipe, and only then', () => {
    assert.equal(decode(false, 'a\nb\r\nc\n\n'), 'a\r\nb\r\nc\r\n\r\n');
    assert.equal(decode(true, 'a\nb'), 'a\nb');
  });

  it('sees a CRLF that is split between two chunks as one', () => {
    assert.equal(decode(false, 'a\r', '\nb', '\nc'), 'a\r\nb\r\nc');
  });

  it('puts a character together that is split between chunks', () => {
    const [b1, b2, b3, b4] = [...Buffer.from('🙂')] as [number, number, number, number];
    assert.equal(decode(false, [b1, b2], [b3], [b4]), '🙂');
  });

  it('shows invalid bytes as U+FFFD and goes on', () => {
    assert.equal(decode(false, [0x61, 0xff, 0x62]), 'a\ufffdb');
  });

  it('keeps a byte order mark and NUL', () => {
    assert.equal(decode(true, '\ufeffa\0b'), '\ufeffa\0b');
  });
});
