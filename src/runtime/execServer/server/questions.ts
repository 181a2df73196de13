import type * as z from 'zod';
import type { Message, RequestId } from '../protocol/envelope.ts';
import { RpcError } from '../protocol/errors.ts';
import type { ServerMethodName, ServerParamsOf, ServerResultOf } from '../protocol/methods.ts';
import { serverMethods } from '../protocol/methods.ts';

/** More than a client that answers lets wait. */
const maxWaiting = 256;

type Answer = Extract<Message, { kind: 'response' | 'error' }>;

/** What a server asks its client, by ids of its own, which have nothing to do with those of the client's requests. */
export class Questions {
  readonly #send: (message: object) => void;
  readonly #closed: AbortSignal;
  readonly #waiting = new Map<RequestId, (answer: Answer) => void>();
  #count = 0;

  constructor(send: (message: object) => void, closed: AbortSignal) {
    this.#send = send;
    this.#closed = closed;
  }

  /** See {@link ServedConnection.ask}. */
  async ask<M extends ServerMethodName>(
    method: M,
    params: ServerParamsOf<M>,
    signal: AbortSignal,
  ): Promise<ServerResultOf<M>> {
    const either = AbortSignal.any([signal, this.#closed]);
    either.throwIfAborted();
    if (this.#waiting.size >= maxWaiting) {
      throw new Error(`${maxWaiting} questions wait for the client already`);
    }
    const id = ++this.#count;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const giveUp = (): void => reject(either.reason);
    either.addEventListener('abort', giveUp, { once: true });
    this.#waiting.set(id, resolve);
    try {
      this.#send({ id, method, params });
      const answer = await promise;
      if (answer.kind === 'error') {
        throw new RpcError(answer.error.code, answer.error.message, answer.error.data);
      }
      const schema: z.ZodType = serverMethods[method].result;
      return schema.parse(answer.result) as ServerResultOf<M>;
    } finally {
      either.removeEventListener('abort', giveUp);
      this.#waiting.delete(id);
    }
  }

  /** False for an answer to what was never asked. One that nobody waits for any more is none of that. */
  take(answer: Answer): boolean {
    this.#waiting.get(answer.id)?.(answer);
    return typeof answer.id === 'number' && answer.id >= 1 && answer.id <= this.#count;
  }
}
