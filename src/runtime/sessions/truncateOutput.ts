import { decodeUtf8, incompleteTailLength, orphanedHeadLength } from './utf8.ts';

/** As in the reference: a token is four bytes, and no answer holds more than this many tokens. */
const bytesPerToken = 4;
export const maxAnswerTokens = 10_000;

export interface AnswerOutput {
  readonly text: string;
  /** Tokens of the output before anything was left out. */
  readonly originalTokens: number;
}

/**
 * Cuts text to a token budget: the first and the last half, with the count of tokens left out between them, and a
 * warning in front. Cuts lie between characters. `omittedBytes` counts what the collecting buffer already dropped
 * from the middle.
 */
export function truncateOutput(bytes: Uint8Array, maxTokens: number, omittedBytes = 0): AnswerOutput {
  const originalTokens = Math.ceil((bytes.byteLength + omittedBytes) / bytesPerToken);
  const budget = Math.min(maxTokens, maxAnswerTokens) * bytesPerToken;
  if (bytes.byteLength <= budget && omittedBytes === 0) {
    return { text: decodeUtf8(bytes), originalTokens };
  }
  const half = Math.floor(Math.min(budget, bytes.byteLength) / 2);
  const roughHead = bytes.subarray(0, half);
  const roughTail = bytes.subarray(bytes.byteLength - half);
  const head = roughHead.subarray(0, half - incompleteTailLength(roughHead));
  const tail = roughTail.subarray(orphanedHeadLength(roughTail));
  const leftOutBytes = bytes.byteLength + omittedBytes - head.byteLength - tail.byteLength;
  const leftOutTokens = Math.ceil(leftOutBytes / bytesPerToken);
  const size =
    omittedBytes > 0 ? `... ${omittedBytes} bytes omitted ...` : `Total output lines: ${countLines(bytes)}`;
  return {
    originalTokens,
    text: [
      `Warning: truncated output (original token count: ${originalTokens})`,
      size,
      '',
      `${decodeUtf8(head)}…${leftOutTokens} tokens truncated…${decodeUtf8(tail)}`,
    ].join('\n'),
  };
}

function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) {
    lines++;
  }
  return bytes.byteLength > 0 && bytes.at(-1) !== 10 ? lines + 1 : lines;
}
