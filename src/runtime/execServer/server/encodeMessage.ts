import type { NotificationParams } from '../protocol/methods.ts';
import { SpareBuffers } from './spareBuffers.ts';

type OutputParams = NotificationParams<'process/output'>;

export interface EncodedMessage {
  /** JSON, as text or as its bytes in UTF-8. */
  readonly content: string | Uint8Array;
  /** To be called when the content was taken and is needed no more. */
  readonly taken?: () => void;
}

/** Of all connections. */
const spares = new SpareBuffers();

/**
 * A message as it is sent. Output, the one of which there are thousands a second, becomes bytes at once: base64 has
 * nothing that JSON escapes, so nobody has to look for it in every character.
 */
export function encodeMessage(message: object): EncodedMessage {
  return isOutput(message) ? encodeOutput(message.params) : { content: JSON.stringify(message) };
}

function isOutput(message: {
  readonly method?: unknown;
}): message is { readonly method: 'process/output'; readonly params: OutputParams } {
  return message.method === 'process/output';
}

function encodeOutput({ processId, seq, stream, chunk }: OutputParams): EncodedMessage {
  const id = JSON.stringify(processId);
  const head = `{"method":"process/output","params":{"processId":${id},"seq":${seq},"stream":"${stream}","chunk":"`;
  const headBytes = Buffer.byteLength(head);
  const { bytes, giveBack } = spares.take(headBytes + chunk.length + tail.length);
  bytes.write(head, 'utf8');
  bytes.write(chunk, headBytes, 'latin1');
  bytes.write(tail, headBytes + chunk.length, 'latin1');
  return { content: bytes, ...(giveBack && { taken: giveBack }) };
}

const tail = '"}}';
