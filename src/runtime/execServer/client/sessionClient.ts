import { setTimeout as delay } from 'node:timers/promises';
import type * as z from 'zod';
import type { Disposable } from '../../../base/disposable.ts';
import { Emitter } from '../../../base/event.ts';
import type { Log } from '../../../base/log.ts';
import type { Span } from '../../../base/telemetry.ts';
import { inSpan, traceContextOf } from '../../../base/telemetry.ts';
import type { Message } from '../protocol/envelope.ts';
import { errorCodes, RpcError } from '../protocol/errors.ts';
import type { EnvironmentInfo } from '../protocol/handshake.ts';
import { environmentInfo } from '../protocol/handshake.ts';
import type {
  MethodName,
  NotificationName,
  NotificationParams,
  ParamsFor,
  ResultOf,
} from '../protocol/methods.ts';
import { methods, notifications } from '../protocol/methods.ts';
import { isTraced } from '../protocol/tracedMethods.ts';
import { ClientConnection, notAMessage } from './clientConnection.ts';
import type { CallOptions, ClientState, Dial, ExecClient } from './execClient.ts';
import { ConnectionLost, ServerGone } from './execClient.ts';
import { Liveness } from './liveness.ts';
import { NotificationListeners } from './notificationListeners.ts';
import { RequestQueue } from './requestQueue.ts';
import { resultOf } from './resultOf.ts';
import type { ClientTiming } from './timing.ts';

/** So much may wait to be taken by the server before more is given to the connection. */
const maxBufferedBytes = 1024 * 1024;
/** More of them than accidents explain. */
const maxMalformed = 3;

export interface SessionOptions {
  readonly dial: Dial;
  readonly clientName: string;
  readonly log: Log;
  readonly timing: ClientTiming;
}

/** An {@link ExecClient} on whatever connection is there; makes a new one when it breaks. */
export class SessionClient implements ExecClient {
  readonly sessionId: string;
  readonly #options: SessionOptions;
  readonly #stateChanged = new Emitter<ClientState>();
  readonly onDidChangeState = this.#stateChanged.event;
  readonly #listeners: NotificationListeners;
  readonly #end = new AbortController();
  readonly #liveness: Liveness;
  #info: EnvironmentInfo;
  #queue: RequestQueue;
  #connection: ClientConnection | undefined;
  #state: ClientState = { kind: 'connected' };
  #malformed = 0;

  /** Takes over a connection whose handshake is half done. */
  static async open(
    connection: ClientConnection,
    { sessionId, environmentInfo: told }: ResultOf<'initialize'>,
    options: SessionOptions,
  ): Promise<SessionClient> {
    const client = new SessionClient(sessionId, told ?? unknownMachine, options);
    client.#adopt(connection);
    if (told == null) {
      try {
        client.#setInfo(await client.call('environment/info', {}));
      } catch (cause) {
        client.dispose();
        throw cause;
      }
    }
    return client;
  }

  private constructor(sessionId: string, info: EnvironmentInfo, options: SessionOptions) {
    this.sessionId = sessionId;
    this.#options = options;
    this.#listeners = new NotificationListeners(options.log);
    this.#info = info;
    this.#queue = new RequestQueue(info.cordon !== undefined);
    this.#liveness = new Liveness(options.timing, {
      isSerial: () => !this.isCordon && this.#queue.inFlight > 1,
      ask: () => void this.call('environment/status', {}).catch(() => {}),
      giveUp: (reason) => this.#drop(reason),
    });
  }

  get info(): EnvironmentInfo {
    return this.#info;
  }

  get isCordon(): boolean {
    return this.#info.cordon !== undefined;
  }

  get state(): ClientState {
    return this.#state;
  }

  async call<M extends MethodName>(
    method: M,
    params: ParamsFor<M>,
    { signal, span: parent }: CallOptions = {},
  ): Promise<ResultOf<M>> {
    if (!isTraced(method)) {
      return this.#call(method, params, signal, parent);
    }
    const attributes = { 'rpc.system': 'jsonrpc', 'rpc.method': method };
    return inSpan(method, { kind: 'client', parent, attributes }, (span) =>
      this.#call(method, params, signal, span),
    );
  }

  async #call<M extends MethodName>(
    method: M,
    params: ParamsFor<M>,
    signal: AbortSignal | undefined,
    span: Span | undefined,
  ): Promise<ResultOf<M>> {
    signal?.throwIfAborted();
    if (this.#state.kind === 'lost') {
      throw new ConnectionLost(this.#state.reason);
    }
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const trace = span && traceContextOf(span);
    const request = { method, params, trace, resolve, reject, isGivenUp: false };
    const giveUp = (): void => {
      request.isGivenUp = true;
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', giveUp, { once: true });
    this.#queue.add(request);
    this.#flush();
    try {
      const schema: z.ZodType = methods[method].result;
      return resultOf(method, schema, await promise) as ResultOf<M>;
    } finally {
      signal?.removeEventListener('abort', giveUp);
    }
  }

  onNotification<N extends NotificationName>(
    method: N,
    listener: (params: NotificationParams<N>) => void,
  ): Disposable {
    return this.#listeners.add(method, listener);
  }

  dispose(): void {
    this.#lose('this program ended the session');
  }

  #setInfo(info: EnvironmentInfo): void {
    this.#info = info;
    this.#queue = new RequestQueue(info.cordon !== undefined);
  }

  #adopt(connection: ClientConnection): void {
    this.#connection = connection;
    connection.send({ method: 'initialized', params: {} });
    connection.onDrain(() => this.#flush());
    this.#liveness.start();
    connection.listen({
      message: (message) => this.#take(message),
      malformed: (text) => this.#distrust(notAMessage(connection.name, text)),
      closed: (reason) => {
        if (this.#connection === connection) {
          void this.#recover(reason);
        }
      },
    });
  }

  #flush(): void {
    for (;;) {
      const connection = this.#connection;
      if (connection === undefined || connection.bufferedBytes > maxBufferedBytes) {
        return;
      }
      const next = this.#queue.next();
      if (next === undefined) {
        return;
      }
      const { method, params, trace } = next.request;
      connection.send({ id: next.id, method, params, ...(trace && { trace }) });
    }
  }

  #take(message: Message): void {
    this.#liveness.heard();
    switch (message.kind) {
      case 'response':
        this.#queue.answered(message.id)?.resolve(message.result);
        this.#flush();
        break;
      case 'error':
        this.#takeError(message);
        this.#flush();
        break;
      case 'notification':
        if (!this.#listeners.tell(message.method, message.params)) {
          this.#turnAway(message.method, message.params);
        }
        break;
      case 'request':
        this.#connection?.send({
          id: message.id,
          error: {
            code: errorCodes.methodNotFound,
            message: `this client does not implement ${message.method}`,
          },
        });
        break;
    }
  }

  #takeError({ id, error }: Extract<Message, { kind: 'error' }>): void {
    const request = this.#queue.answered(id);
    if (request !== undefined) {
      request.reject(new RpcError(error.code, error.message, error.data));
    } else if (id === -1) {
      // The server could not read one of our messages and does not know whose answer is missing now.
      this.#distrust(`the exec-server could not read a message: ${error.message}`);
    }
  }

  /** A program that asks a client which has taken the session over waits for nobody. */
  #turnAway(method: string, params: unknown): void {
    const opened = notifications['cordon/door/opened'].safeParse(params);
    if (method === 'cordon/door/opened' && opened.success) {
      const { connectionId } = opened.data;
      this.call('cordon/door/close', { connectionId }).catch(() => {});
    }
  }

  /** Nobody knows what the broken message was: a new connection asks again for what may be missing. */
  #distrust(problem: string): void {
    this.#options.log.warn(problem);
    if (++this.#malformed > maxMalformed) {
      this.#lose(problem);
    } else {
      this.#drop(problem);
    }
  }

  #drop(reason: string): void {
    const connection = this.#connection;
    if (connection !== undefined) {
      void this.#recover(reason);
      connection.close();
    }
  }

  async #recover(reason: string): Promise<void> {
    const { log, timing } = this.#options;
    this.#connection = undefined;
    this.#liveness.stop();
    log.info(
      `The connection to the exec-server broke (${reason}); trying again for ${timing.recoveryMs} ms.`,
    );
    this.#setState({ kind: 'recovering' });
    for (const request of this.#queue.interrupted()) {
      request.reject(
        new ConnectionLost(`the connection broke before ${request.method} was answered: ${reason}`),
      );
    }
    const deadline = performance.now() + timing.recoveryMs;
    let last = reason;
    while (this.#state.kind === 'recovering') {
      try {
        const timeoutMs = Math.min(timing.attemptMs, deadline - performance.now());
        const connection = await inSpan('exec-server resume', { kind: 'client' }, () =>
          this.#resume(timeoutMs),
        );
        if (this.#end.signal.aborted) {
          connection.close();
          return;
        }
        this.#adopt(connection);
        this.#setState({ kind: 'connected' });
        this.#flush();
        return;
      } catch (cause) {
        last = cause instanceof Error ? cause.message : String(cause);
        if (cause instanceof RpcError && !isAttached(cause)) {
          // Whoever knows all of an id can take a session over.
          const words = last.replaceAll(this.sessionId, `${this.sessionId.slice(0, 8)}…`);
          this.#lose(`the exec-server does not have the session any more: ${words}`);
        } else if (cause instanceof ServerGone) {
          this.#lose(last);
        } else if (performance.now() + timing.retryMs > deadline) {
          this.#lose(`recovery timed out after ${timing.recoveryMs / 1_000} s: ${last}`);
        } else {
          const pause = timing.retryMs * (1 + Math.random() / 4);
          await delay(pause, undefined, { signal: this.#end.signal }).catch(() => {});
        }
      }
    }
  }

  async #resume(timeoutMs: number): Promise<ClientConnection> {
    const { dial, clientName } = this.#options;
    const signal = AbortSignal.any([
      this.#end.signal,
      AbortSignal.timeout(Math.max(1, Math.ceil(timeoutMs))),
    ]);
    const connection = new ClientConnection(await dial(signal));
    const { sessionId } = await connection.initialize(
      { clientName, resumeSessionId: this.sessionId },
      signal,
    );
    if (sessionId !== this.sessionId) {
      connection.close();
      throw new RpcError(
        errorCodes.invalidRequest,
        `asked for session ${this.sessionId}, it opened ${sessionId}`,
      );
    }
    return connection;
  }

  #lose(reason: string): void {
    if (this.#state.kind === 'lost') {
      return;
    }
    this.#end.abort();
    this.#liveness.stop();
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.close();
    this.#setState({ kind: 'lost', reason });
    for (const request of this.#queue.drain()) {
      request.reject(new ConnectionLost(reason));
    }
  }

  #setState(state: ClientState): void {
    this.#state = state;
    this.#stateChanged.fire(state);
  }
}

/** Before it has told; nothing is asked of it in between. */
const unknownMachine: EnvironmentInfo = environmentInfo.parse({ shell: { name: 'sh', path: '/bin/sh' } });

/** The connection of the client before is not gone yet. */
export function isAttached(cause: unknown): boolean {
  return cause instanceof RpcError && cause.code === errorCodes.sessionAttached;
}
