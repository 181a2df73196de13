import type { Disposable } from '../../../../base/disposable.ts';
import { errorCodes, RpcError } from '../../protocol/errors.ts';
import type { AnswerBudget } from '../../server/answerBudget.ts';
import type { Call } from '../../server/service.ts';
import { base64Length } from '../files/limits.ts';
import type { Answer } from './exchange.ts';
import { failed } from './exchange.ts';
import type { OutgoingRequest } from './outgoingRequest.ts';

/** Of a body that is answered as one piece. */
const mostAtOnce = 128 * 1_048_576;
/** Read without waiting for others. */
const smallBody = 1_048_576;

/** A body as base64. Beyond the first MiB it is read when the server has room for all of it. */
export async function wholeBody(
  { body, headers }: Answer,
  outgoing: OutgoingRequest,
  signal: AbortSignal,
  answers: AnswerBudget,
  holdUntilTaken: Call['holdUntilTaken'],
): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  let room: Disposable | undefined;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > mostAtOnce) {
        throw new RpcError(
          errorCodes.internal,
          `the body from ${outgoing.url.origin} is larger than ${mostAtOnce} bytes: ask for it with streamResponse`,
        );
      }
      if (size > smallBody) {
        room ??= await answers.take(base64Length(Math.min(lengthOf(headers), mostAtOnce)), signal);
      }
    }
  } catch (error) {
    room?.dispose();
    throw error instanceof RpcError ? error : failed(outgoing, signal.aborted ? signal.reason : error);
  }
  if (room !== undefined) {
    holdUntilTaken(room);
  }
  return Buffer.concat(chunks).toString('base64');
}

/** What the server says, which is checked before; of a body that was packed it says nothing. */
function lengthOf(headers: Answer['headers']): number {
  const length = headers.find(({ name }) => name.toLowerCase() === 'content-length')?.value;
  return length !== undefined && /^\d+$/.test(length) ? Number(length) : Infinity;
}
