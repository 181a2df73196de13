import { isUtf8 } from 'node:buffer';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';

/** A file's content as text that can be turned back into exactly its bytes. */
export interface DecodedText {
  /** Without the byte order mark. */
  readonly text: string;
  readonly hasByteOrderMark: boolean;
  /** `bytes`: an encoding that contains ASCII and is not known; every byte is shown as the Latin-1 character of it. */
  readonly encoding: 'utf8' | 'bytes';
  /** The bytes of a text in this encoding, with the mark; undefined when it has characters that cannot be written. */
  encode(text: string): Buffer | undefined;
}

const byteOrderMark = '\ufeff';

/** Decodes a file; the error is the reason in the reference's words. UTF-16 and binary content are no text here. */
export function decodeText(bytes: Buffer): Result<DecodedText, string> {
  if (isUtf8(bytes)) {
    const text = bytes.toString('utf8');
    const hasByteOrderMark = text.startsWith(byteOrderMark);
    return ok({
      text: hasByteOrderMark ? text.slice(1) : text,
      hasByteOrderMark,
      encoding: 'utf8',
      encode: (changed) => Buffer.from(hasByteOrderMark ? byteOrderMark + changed : changed, 'utf8'),
    });
  }
  if (bytes.includes(0) || hasUtf16Mark(bytes)) {
    return fail(describeInvalidUtf8(bytes));
  }
  return ok({
    text: bytes.toString('latin1'),
    hasByteOrderMark: false,
    encoding: 'bytes',
    encode: (changed) => (/[^\0-\xff]/.test(changed) ? undefined : Buffer.from(changed, 'latin1')),
  });
}

function hasUtf16Mark(bytes: Buffer): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
}

/** The reference's words for bytes that are not UTF-8: how long the wrong sequence is and where it begins. */
export function describeInvalidUtf8(bytes: Buffer): string {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const isValid = (end: number): boolean => {
    try {
      decoder.decode(bytes.subarray(0, end), { stream: true });
      return true;
    } catch {
      return false;
    } finally {
      resetDecoder(decoder);
    }
  };
  // The shortest prefix that is wrong ends with the byte that makes it so.
  let low = 0;
  let high = bytes.length + 1;
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (isValid(middle)) {
      low = middle;
    } else {
      high = middle;
    }
  }
  const start = sequenceStart(bytes, low);
  if (low === bytes.length) {
    return `incomplete utf-8 byte sequence from index ${start}`;
  }
  return `invalid utf-8 sequence of ${Math.max(1, low - start)} bytes from index ${start}`;
}

function resetDecoder(decoder: InstanceType<typeof TextDecoder>): void {
  try {
    decoder.decode();
  } catch {
    // An unfinished sequence at the end: the decoder is fresh again all the same.
  }
}

/** Where the unfinished sequence before `end` begins; `end` itself when there is none. */
function sequenceStart(bytes: Buffer, end: number): number {
  for (let start = Math.max(0, end - 3); start < end; start += 1) {
    const lead = bytes[start] as number;
    const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    if (length > 1 && start + length > end) {
      return start;
    }
  }
  return end;
}
