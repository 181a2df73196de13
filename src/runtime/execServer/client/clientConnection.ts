import type { Message } from '../protocol/envelope.ts';
import { parseMessage } from '../protocol/envelope.ts';
import type { ResultOf } from '../protocol/methods.ts';
import { methods } from '../protocol/methods.ts';
import { RpcError } from '../protocol/errors.ts';
import type { MessageTransport } from '../transport/messageTransport.ts';
import { resultOf } from './resultOf.ts';

/** What arrives over one connection; `malformed` is what was no message. */
export interface ConnectionEvents {
  readonly message: (message: Message) => void;
  readonly malformed: (text: string) => void;
  readonly closed: (reason: string) => void;
}

/** One connection to the server, from its first message to its end. */
export class ClientConnection {
  readonly #transport: MessageTransport;
  #events: ConnectionEvents | undefined;
  /** What arrived before somebody was there to take it. */
  #early: ((events: ConnectionEvents) => void)[] = [];

  constructor(transport: MessageTransport) {
    this.#transport = transport;
    transport.onMessage((text) => {
      const message = readOutput(text) ?? parseMessage(text);
      this.#deliver((events) => (message === undefined ? events.malformed(text) : events.message(message)));
    });
    transport.onClose(({ reason }) =>
      this.#deliver((events) => events.closed(reason ?? `${transport.name} closed the connection`)),
    );
    transport.resume();
  }

  get name(): string {
    return this.#transport.name;
  }

  get bufferedBytes(): number {
    return this.#transport.bufferedBytes;
  }

  get onDrain(): MessageTransport['onDrain'] {
    return this.#transport.onDrain;
  }

  send(message: object): void {
    this.#transport.send(JSON.stringify(message));
  }

  close(): void {
    this.#transport.close();
  }

  /** From now on these get what arrives, beginning with what came before. */
  listen(events: ConnectionEvents): void {
    this.#events = events;
    const early = this.#early;
    this.#early = [];
    for (const deliver of early) {
      deliver(events);
    }
  }

  /**
   * The first request of the protocol. Rejects with an `RpcError` that the server answered, or with what went wrong
   * on the way; the connection is closed then.
   */
  async initialize(
    params: { readonly clientName: string; readonly resumeSessionId?: string },
    signal: AbortSignal,
  ): Promise<ResultOf<'initialize'>> {
    if (signal.aborted) {
      this.close();
      throw signal.reason;
    }
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const giveUp = (): void => reject(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    const later: ((events: ConnectionEvents) => void)[] = [];
    let isOver = false;
    this.listen({
      message: (message) => {
        if (isOver) {
          later.push((events) => events.message(message));
        } else if (message.kind === 'response' && message.id === handshakeId) {
          isOver = true;
          resolve(message.result);
        } else if (message.kind === 'error') {
          isOver = true;
          reject(new RpcError(message.error.code, message.error.message, message.error.data));
        }
      },
      malformed: (text) => reject(new Error(notAMessage(this.name, text))),
      closed: (reason) => {
        later.push((events) => events.closed(reason));
        reject(new Error(reason));
      },
    });
    try {
      this.send({ id: handshakeId, method: 'initialize', params });
      const result = resultOf('initialize', methods.initialize.result, await promise);
      this.#events = undefined;
      this.#early = [...later, ...this.#early];
      return result;
    } catch (cause) {
      this.close();
      throw cause;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  #deliver(deliver: (events: ConnectionEvents) => void): void {
    if (this.#events === undefined) {
      this.#early.push(deliver);
    } else {
      deliver(this.#events);
    }
  }
}

/** Numbers are for requests after the handshake. */
const handshakeId = 'initialize';

export function notAMessage(name: string, text: string): string {
  const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  return `${name} sent what is no message of the exec-server protocol: ${JSON.stringify(shown)}`;
}

/**
 * The one message of which there are thousands a second, without the general way through the schemas. Undefined when
 * it is another one, or has not the shape.
 */
function readOutput(text: string): Message | undefined {
  if (!text.startsWith('{"method":"process/output"')) {
    return undefined;
  }
  try {
    const { method, params } = JSON.parse(text) as { method: string; params: unknown };
    return method === 'process/output' ? { kind: 'notification', method, params } : undefined;
  } catch {
    return undefined;
  }
}
