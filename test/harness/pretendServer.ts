import { Emitter } from '../../src/base/event.ts';
import type { Dial } from '../../src/runtime/execServer/client/execClient.ts';
import type {
  MessageTransport,
  TransportEnd,
} from '../../src/runtime/execServer/transport/messageTransport.ts';

interface WireRequest {
  readonly id: number | string;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly trace?: unknown;
}

/** What a handler answers with; an `RpcError` that it throws becomes an error, `undefined` is no answer at all. */
type PretendHandler = (params: Readonly<Record<string, unknown>>) => unknown;

/** An exec-server without a process, which answers and says what a test wants, in the order that the test wants. */
export class PretendServer {
  readonly requests: WireRequest[] = [];
  readonly handlers = new Map<string, PretendHandler>();
  /** What connecting fails with, while it does. */
  unreachable: Error | undefined;
  environmentInfo: object | undefined = { shell: { name: 'sh', path: '/bin/sh' } };
  dials = 0;
  /** Delivers what it says within one turn, as messages arrive that share a packet. */
  isHasty = false;
  #connection: PretendConnection | undefined;

  constructor() {
    this.handlers.set('initialize', ({ resumeSessionId }) => ({
      sessionId: resumeSessionId ?? 'session-1',
      environmentInfo: this.environmentInfo,
    }));
    this.handlers.set('environment/status', () => ({ status: 'ready' }));
    this.handlers.set('process/start', ({ processId }) => ({ processId, sandboxType: 'none' }));
    this.handlers.set('process/write', () => ({ status: 'accepted' }));
    this.handlers.set('process/terminate', () => ({ running: true }));
    this.handlers.set('process/signal', () => ({}));
  }

  readonly dial: Dial = async () => {
    this.dials++;
    if (this.unreachable !== undefined) {
      throw this.unreachable;
    }
    const connection = new PretendConnection(
      (text) => this.#take(connection, text),
      () => this.isHasty,
    );
    this.#connection = connection;
    return connection.transport;
  };

  /** The methods that were called since the handshake, in order. */
  called(): readonly string[] {
    return this.requests.map(({ method }) => method).filter((method) => method !== 'initialize');
  }

  push(method: string, params: object): void {
    this.sendRaw(JSON.stringify({ method, params }));
  }

  sendRaw(text: string): void {
    this.#connection?.deliver(text);
  }

  answer(id: number | string, result: unknown): void {
    this.sendRaw(JSON.stringify({ id, result }));
  }

  breakConnection(): void {
    this.#connection?.end({ reason: 'reset' });
  }

  #take(connection: PretendConnection, text: string): void {
    const message = JSON.parse(text) as Partial<WireRequest>;
    if (message.id === undefined || message.method === undefined) {
      return;
    }
    const request = message as WireRequest;
    this.requests.push(request);
    try {
      const result = this.handlers.get(request.method)?.(request.params);
      if (result !== undefined) {
        connection.deliver(JSON.stringify({ id: request.id, result }));
      }
    } catch (cause) {
      const {
        code = -32_603,
        message: words,
        data,
      } = cause as { code?: number; message: string; data?: unknown };
      connection.deliver(JSON.stringify({ id: request.id, error: { code, message: words, data } }));
    }
  }
}

/** Delivers in order, each message in a turn of its own unless the server is hasty. */
class PretendConnection {
  readonly transport: MessageTransport;
  readonly #messages = new Emitter<string>();
  readonly #ends = new Emitter<TransportEnd>();
  readonly #isHasty: () => boolean;
  #isOver = false;
  #together: string[] = [];

  constructor(onText: (text: string) => void, isHasty: () => boolean) {
    this.#isHasty = isHasty;
    this.transport = {
      name: 'pretend server',
      onMessage: this.#messages.event,
      onClose: this.#ends.event,
      onDrain: new Emitter<void>().event,
      bufferedBytes: 0,
      send: (message) => {
        const text = Buffer.from(message).toString();
        if (!this.#isOver) {
          setImmediate(() => onText(text));
        }
      },
      pause: () => {},
      resume: () => {},
      close: () => this.end({}),
    };
  }

  deliver(text: string): void {
    if (this.#isHasty()) {
      this.#together.push(text);
      setTimeout(() => this.#together.splice(0).forEach((each) => this.#messages.fire(each)), 5);
      return;
    }
    setImmediate(() => {
      if (!this.#isOver) {
        this.#messages.fire(text);
      }
    });
  }

  end(end: TransportEnd): void {
    if (!this.#isOver) {
      this.#isOver = true;
      this.#ends.fire(end);
    }
  }
}
