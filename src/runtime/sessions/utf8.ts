/**
 * How many bytes at the end of `bytes` begin a UTF-8 character that is not complete yet (0 to 3).
 * Bytes that can never become a character do not count: they are shown as U+FFFD at once.
 */
export function incompleteTailLength(bytes: Uint8Array): number {
  for (let length = 1; length <= Math.min(3, bytes.byteLength); length++) {
    const byte = bytes[bytes.byteLength - length] as number;
    if ((byte & 0xc0) === 0x80) {
      continue;
    }
    const needed = byte >= 0xf0 && byte <= 0xf4 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
    return byte < 0xf5 && needed > length ? length : 0;
  }
  return 0;
}

/** How many continuation bytes at the start of `bytes` belong to a character that was cut off before (0 to 3). */
export function orphanedHeadLength(bytes: Uint8Array): number {
  let length = 0;
  while (length < Math.min(3, bytes.byteLength) && ((bytes[length] as number) & 0xc0) === 0x80) {
    length++;
  }
  return length;
}

/** Decodes whole output: invalid bytes become U+FFFD, a byte order mark stays. */
export function decodeUtf8(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}
