import { longestTimerMs } from '../../../../base/longestTimer.ts';
import { lookUp, upstreamOfMachine } from '../../../../sandbox/network/networkProxy.ts';
import type { ResultOf } from '../../protocol/methods.ts';
import type { Handler, ServedConnection } from '../../server/service.ts';
import type { Answer } from './exchange.ts';
import { exchange, failed } from './exchange.ts';
import type { OutgoingRequest } from './outgoingRequest.ts';
import { invalid, outgoingRequest } from './outgoingRequest.ts';
import type { HttpServiceOptions } from './httpService.ts';
import { wholeNetwork } from './serverNetwork.ts';
import { createWayOut } from './wayOut.ts';
import { wholeBody } from './wholeBody.ts';

const mostPerDelta = 1_048_576;
/** Bodies on their way to one client, each of which has a connection. */
const mostStreams = 256;

export type AnswerHttpRequest = Handler<'http/request'>;

/** Answers the requests of a connection; what is under way ends with it. */
export function httpRequests(
  connection: ServedConnection,
  {
    network = wholeNetwork,
    environment = process.env,
    lookup = lookUp,
    upstream = upstreamOfMachine,
    answers,
  }: HttpServiceOptions,
): AnswerHttpRequest {
  connection.closed.throwIfAborted();
  const dispatcher = createWayOut({ network, lookup, upstream });
  connection.closed.addEventListener('abort', () => void dispatcher.destroy(), { once: true });
  const streaming = new Set<string>();

  return async (params, { holdUntilTaken }) => {
    const outgoing = outgoingRequest(params, environment);
    const { requestId, streamResponse, timeoutMs, redirectPolicy } = params;
    if (streaming.has(requestId)) {
      throw invalid(`requestId "${requestId}" is still streaming`);
    }
    const limits =
      typeof timeoutMs === 'number' ? [AbortSignal.timeout(Math.min(timeoutMs, longestTimerMs))] : [];
    const signal = AbortSignal.any([connection.closed, ...limits]);
    const follows = redirectPolicy === 'follow';
    if (!streamResponse) {
      const received = await exchange(outgoing, follows, dispatcher, signal);
      return resultOf(received, await wholeBody(received, outgoing, signal, answers, holdUntilTaken));
    }
    if (streaming.size >= mostStreams) {
      throw invalid(`cannot stream: ${mostStreams} bodies are on their way to this client already`);
    }
    streaming.add(requestId);
    try {
      const received = await exchange(outgoing, follows, dispatcher, signal);
      // The answer to the request goes out before the first piece of its body.
      setImmediate(() => {
        void stream(received, outgoing, signal, requestId, connection).finally(() =>
          streaming.delete(requestId),
        );
      });
      return resultOf(received, '');
    } catch (error) {
      streaming.delete(requestId);
      throw error;
    }
  };
}

function resultOf({ status, headers }: Answer, bodyBase64: string): ResultOf<'http/request'> {
  return { status, headers: [...headers], bodyBase64 };
}

/** Sends the body in pieces, no faster than the client takes them. */
async function stream(
  { body }: Answer,
  outgoing: OutgoingRequest,
  signal: AbortSignal,
  requestId: string,
  connection: ServedConnection,
): Promise<void> {
  let seq = 0;
  const send = (delta: Uint8Array, end?: { readonly error: string | null }): void => {
    seq += 1;
    const deltaBase64 = Buffer.from(delta).toString('base64');
    connection.notify('http/request/bodyDelta', {
      requestId,
      seq,
      deltaBase64,
      done: end !== undefined,
      error: end?.error ?? null,
    });
  };
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      for (let at = 0; at < chunk.length; at += mostPerDelta) {
        send(chunk.subarray(at, at + mostPerDelta));
        await connection.whenWritable();
      }
    }
    send(Buffer.alloc(0), { error: null });
  } catch (error) {
    if (!connection.closed.aborted) {
      send(Buffer.alloc(0), { error: failed(outgoing, signal.aborted ? signal.reason : error).message });
    }
  }
}
