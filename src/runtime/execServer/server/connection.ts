import type { Disposable } from '../../../base/disposable.ts';
import type { Log } from '../../../base/log.ts';
import { inSpan, traceContextOf } from '../../../base/telemetry.ts';
import type { Message, RequestId, Trace } from '../protocol/envelope.ts';
import { parseMessage } from '../protocol/envelope.ts';
import { errorCodes, RpcError } from '../protocol/errors.ts';
import { initializeParams } from '../protocol/handshake.ts';
import type {
  MethodName,
  NotificationName,
  NotificationParams,
  ServerMethodName,
  ServerParamsOf,
  ServerResultOf,
} from '../protocol/methods.ts';
import { methods } from '../protocol/methods.ts';
import { isTraced } from '../protocol/tracedMethods.ts';
import type { MessageTransport } from '../transport/messageTransport.ts';
import { encodeMessage } from './encodeMessage.ts';
import type { Inbound } from './inbound.ts';
import { Lanes } from './lanes.ts';
import { isWithinLimits } from './messageLimits.ts';
import type { SlotKind } from './ordering.ts';
import { orderingOf, slotKinds } from './ordering.ts';
import { Questions } from './questions.ts';
import type { Call, Handlers, ServedConnection } from './service.ts';
import { Slots } from './slots.ts';

/** What waits for the client to take it before whoever makes more is asked to wait. */
const maxUnsentBytes = 1024 * 1024;
/** What nobody can be asked to wait for, answers above all, before no more requests are read. */
const maxUnsentAnswers = 16 * 1024 * 1024;
/** Requests without an answer before no more are read, and again when half of it is left. */
const maxPendingRequests = 1024;
const maxPendingBytes = 64 * 1024 * 1024;

type Request = Extract<Message, { kind: 'request' }>;
type Handle = (params: unknown, call: Call) => unknown;

export interface ConnectionHost {
  readonly log: Log;
  readonly concurrentRequests: number;
  /** Of all connections of the server. */
  readonly inbound: Inbound;
  /** Answers `initialize`. Throws an `RpcError`, after which it may be tried again. */
  initialize(resumeSessionId: string | undefined): unknown;
  /** Called once; `initialize` may be called before it returns no more than after. */
  handlers(connection: ServedConnection): Handlers;
}

/** One client: the envelope, the order of the handshake, who may run when, and what waits to be sent. */
export class Connection implements ServedConnection {
  readonly log: Log;
  readonly #transport: MessageTransport;
  readonly #host: ConnectionHost;
  readonly #handlers: Handlers;
  readonly #lanes = new Lanes();
  readonly #slots: Readonly<Record<SlotKind, Slots>>;
  readonly #abort = new AbortController();
  readonly #questions = new Questions((message) => this.#send(message), this.#abort.signal);
  #state: 'new' | 'greeted' | 'ready' = 'new';
  #pendingRequests = 0;
  #pendingBytes = 0;
  #isPaused = false;
  #writable: PromiseWithResolvers<void> | undefined;

  constructor(transport: MessageTransport, host: ConnectionHost) {
    this.log = host.log;
    this.#transport = transport;
    this.#host = host;
    this.#slots = Object.fromEntries(
      slotKinds.map((kind) => [kind, new Slots(host.concurrentRequests)]),
    ) as Record<SlotKind, Slots>;
    this.#handlers = host.handlers(this);
    transport.onMessage((text) => this.#receive(text));
    transport.onDrain(() => this.#drained());
    const waiting = host.inbound.onEmptied(() => this.#steerInput());
    transport.onClose(() => {
      this.#abort.abort();
      waiting.dispose();
      this.#drained();
    });
  }

  get closed(): AbortSignal {
    return this.#abort.signal;
  }

  get isWritable(): boolean {
    return this.#abort.signal.aborted || this.#transport.bufferedBytes <= maxUnsentBytes;
  }

  notify<N extends NotificationName>(method: N, params: NotificationParams<N>): void {
    this.#send({ method, params });
  }

  ask<M extends ServerMethodName>(
    method: M,
    params: ServerParamsOf<M>,
    signal: AbortSignal,
  ): Promise<ServerResultOf<M>> {
    return this.#questions.ask(method, params, signal);
  }

  async whenWritable(): Promise<void> {
    if (!this.isWritable) {
      this.#writable ??= Promise.withResolvers();
      await this.#writable.promise;
    }
  }

  close(): void {
    this.#transport.close();
  }

  #send(message: object): void {
    if (!this.#abort.signal.aborted) {
      const { content, taken } = encodeMessage(message);
      this.#transport.send(content, taken);
      this.#steerInput();
    }
  }

  #drained(): void {
    this.#writable?.resolve();
    this.#writable = undefined;
    this.#steerInput();
  }

  /** Reads on, or not, so that neither requests nor answers pile up. */
  #steerInput(): void {
    const share = this.#isPaused ? 0.5 : 1;
    const mustPause =
      this.#pendingRequests > maxPendingRequests * share ||
      this.#pendingBytes > maxPendingBytes * share ||
      this.#host.inbound.mustWait(this.#pendingBytes) ||
      this.#transport.bufferedBytes > maxUnsentAnswers * share;
    if (mustPause !== this.#isPaused && !this.#abort.signal.aborted) {
      this.#isPaused = mustPause;
      if (mustPause) {
        this.#transport.pause();
      } else {
        this.#transport.resume();
      }
    }
  }

  #receive(text: string): void {
    const message = isWithinLimits(text) ? parseMessage(text) : undefined;
    switch (message?.kind) {
      case undefined:
        this.#answerMalformed(text);
        return;
      case 'request':
        this.#request(message, text.length);
        return;
      case 'notification':
        if (message.method === 'initialized' && this.#state !== 'new') {
          this.#state = 'ready';
          return;
        }
        this.#violated(`the notification ${JSON.stringify(message.method.slice(0, 100))}`);
        return;
      case 'response':
      case 'error':
        if (!this.#questions.take(message)) {
          this.#violated('an answer that nobody asked for');
        }
    }
  }

  #violated(what: string): void {
    this.log.warn(`${this.#transport.name}: closed because of ${what}`);
    this.close();
  }

  #answerMalformed(text: string): void {
    const { name } = this.#transport;
    const kind = name.startsWith('exec-server websocket') ? 'websocket JSON-RPC' : 'JSON-RPC';
    const reason = isWithinLimits(text) ? 'not a message' : 'too many values, or nested too deeply';
    this.#fail(
      -1,
      new RpcError(errorCodes.invalidRequest, `failed to parse ${kind} message from ${name}: ${reason}`),
    );
  }

  #request(request: Request, size: number): void {
    const { id, method } = request;
    try {
      if (method === 'initialize') {
        this.#initialize(request);
        return;
      }
      const handle = Object.hasOwn(this.#handlers, method)
        ? (this.#handlers[method as MethodName] as Handle | undefined)
        : undefined;
      if (handle === undefined) {
        throw new RpcError(
          errorCodes.methodNotFound,
          `exec-server stub does not implement \`${method}\` yet`,
        );
      }
      const name = method as MethodName;
      const params = this.#paramsOf(name, request.params);
      this.#expectReady(name);
      void this.#dispatch({ id, name, params, size, handle, trace: request.trace });
    } catch (error) {
      this.#fail(id, error);
    }
  }

  #initialize({ id, params }: Request): void {
    const parsed = initializeParams.safeParse(params);
    if (!parsed.success) {
      throw invalidParams('initialize', parsed.error.issues);
    }
    if (this.#state !== 'new') {
      throw new RpcError(errorCodes.invalidRequest, 'initialize may only be sent once per connection');
    }
    const result = this.#host.initialize(parsed.data.resumeSessionId ?? undefined);
    this.#state = 'greeted';
    this.#send({ id, result });
  }

  #paramsOf(method: MethodName, params: unknown): unknown {
    const parsed = methods[method].params.safeParse(params);
    if (!parsed.success) {
      throw invalidParams(method, parsed.error.issues);
    }
    return parsed.data;
  }

  #expectReady(method: MethodName): void {
    const found = methods[method];
    const group = 'group' in found ? found.group : method;
    if (this.#state !== 'ready') {
      const step = this.#state === 'new' ? 'client must call initialize' : 'client must send initialized';
      throw new RpcError(errorCodes.invalidRequest, `${step} before using ${group} methods`);
    }
  }

  async #dispatch({ id, name, params, size, handle, trace }: Dispatched): Promise<void> {
    const { lanes, slot } = orderingOf(name, params);
    const passage = this.#lanes.enter(lanes);
    let taken: Slots | undefined;
    const held: Disposable[] = [];
    this.#pendingRequests++;
    this.#pendingBytes += size;
    this.#host.inbound.add(size);
    this.#steerInput();
    try {
      if (passage.ready !== undefined) {
        await passage.ready;
      }
      if (slot !== undefined) {
        // Answers may be large: nobody begins to make one while so much waits that the client must take it first.
        await this.whenWritable();
        taken = this.#slots[slot];
        await taken.take();
      }
      if (!this.closed.aborted) {
        const result = this.#traced(name, trace, (inner) =>
          handle(params, {
            trace: inner,
            signal: this.closed,
            holdUntilTaken: (one) => held.push(one),
          }),
        );
        const settled: unknown = result instanceof Promise ? await result : result;
        this.#send({ id, result: settled ?? {} });
      }
    } catch (error) {
      this.#fail(id, error);
    } finally {
      taken?.free();
      passage.leave();
      this.#pendingRequests--;
      this.#pendingBytes -= size;
      this.#host.inbound.remove(size);
      this.#steerInput();
      if (held.length > 0) {
        await this.whenWritable();
        held.forEach((one) => one.dispose());
      }
    }
  }

  /** A span for what takes time, from which handlers can go on. */
  #traced(name: MethodName, trace: Trace | undefined, run: (trace: Trace | undefined) => unknown): unknown {
    return !isTraced(name)
      ? run(trace)
      : inSpan(
          name,
          { kind: 'server', parent: trace, attributes: { 'rpc.system': 'jsonrpc', 'rpc.method': name } },
          (span) => run(traceContextOf(span) ?? trace),
        );
  }

  #fail(id: RequestId, error: unknown): void {
    if (error instanceof RpcError) {
      const { code, message, data } = error;
      this.#send({ id, error: { code, message, ...(data !== undefined && { data }) } });
      return;
    }
    if (!this.closed.aborted) {
      const message = error instanceof Error ? error.message : String(error);
      this.log.error(`${this.#transport.name}: ${error instanceof Error ? error.stack : message}`);
      this.#send({ id, error: { code: errorCodes.internal, message } });
    }
  }
}

interface Dispatched extends Pick<Request, 'id' | 'trace'> {
  readonly name: MethodName;
  readonly params: unknown;
  /** Of the message. */
  readonly size: number;
  readonly handle: Handle;
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

function invalidParams(method: string, issues: readonly Issue[]): RpcError {
  const [issue] = issues;
  const field = issue === undefined ? '' : issue.path.map(String).join('.');
  return new RpcError(
    errorCodes.invalidParams,
    `invalid params of ${method}: ${field === '' ? '' : `${field}: `}${issue?.message ?? 'not as described'}`,
  );
}
