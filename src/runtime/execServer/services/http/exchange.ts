import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { errors, request } from 'undici';
import { errorCodes, RpcError } from '../../protocol/errors.ts';
import type { OutgoingRequest } from './outgoingRequest.ts';
import { invalid, redirected } from './outgoingRequest.ts';
import { Unreached } from './wayOut.ts';

/** The answer to a request, its body decoded and not read yet. */
export interface Answer {
  readonly status: number;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly body: Readable;
}

const mostRedirects = 10;

/** Sends a request, and where it is redirected, as often as allowed. Throws the error to answer with. */
export async function exchange(
  first: OutgoingRequest,
  follows: boolean,
  dispatcher: Dispatcher,
  signal: AbortSignal,
): Promise<Answer> {
  let next = first;
  for (let count = 0; count <= mostRedirects; count++) {
    const answer = await send(next, dispatcher, signal);
    const target = follows ? redirectOf(next, answer) : undefined;
    if (target === undefined) {
      return decoded(answer);
    }
    await answer.body.dump({ limit: 65_536 });
    next = target;
  }
  throw failed(first, `more than ${mostRedirects} redirects`);
}

/** What went wrong while something was under way, in words that name the host. */
export function failed({ url }: OutgoingRequest, reason: unknown): RpcError {
  return new RpcError(errorCodes.internal, `http/request to ${url.origin} failed: ${wordsOf(reason)}`);
}

type Response = Dispatcher.ResponseData;

async function send(
  outgoing: OutgoingRequest,
  dispatcher: Dispatcher,
  signal: AbortSignal,
): Promise<Response> {
  const { method, url, headers, body } = outgoing;
  try {
    return await request(url, {
      dispatcher,
      method: method,
      headers: headers.flatMap(({ name, value }) => [name, Buffer.from(value).toString('latin1')]),
      body: body ?? null,
      signal,
    });
  } catch (error) {
    if (error instanceof errors.InvalidArgumentError || error instanceof errors.NotSupportedError) {
      throw invalid(`is not valid: ${error.message}`);
    }
    throw failed(outgoing, error);
  }
}

function redirectOf(
  outgoing: OutgoingRequest,
  { statusCode, headers }: Response,
): OutgoingRequest | undefined {
  const { location } = headers;
  try {
    return redirected(outgoing, statusCode, Array.isArray(location) ? location[0] : location);
  } catch (error) {
    throw failed(outgoing, `it redirects to nowhere: ${wordsOf(error)}`);
  }
}

/** A body comes as it was before it was packed, without the headers that are about the packing. */
function decoded({ statusCode, headers, body }: Response): Answer {
  const encoding = headers['content-encoding'];
  const decoder = typeof encoding === 'string' ? decoderOf(encoding) : undefined;
  const packing = decoder === undefined ? [] : ['content-encoding', 'content-length'];
  const list = Object.entries(headers)
    .filter(([name]) => !packing.includes(name))
    .flatMap(([name, value = []]) =>
      (Array.isArray(value) ? value : [value]).map((text) => ({ name, value: utf8(text) })),
    );
  return {
    status: statusCode,
    headers: list,
    // Errors of either come out of the decoder.
    body: decoder === undefined ? body : pipeline(body, decoder, () => {}),
  };
}

function decoderOf(encoding: string) {
  switch (encoding.trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'zstd':
      return createZstdDecompress();
    default:
      return undefined;
  }
}

/** Headers are bytes; most of those that are not ASCII are UTF-8. */
function utf8(text: string): string {
  return Buffer.from(text, 'latin1').toString();
}

function wordsOf(reason: unknown): string {
  if (reason instanceof Unreached || reason instanceof RpcError) {
    return reason.message;
  }
  if (!(reason instanceof Error)) {
    return String(reason);
  }
  return reason.name === 'TimeoutError' ? 'timed out' : reason.message || reason.name;
}
