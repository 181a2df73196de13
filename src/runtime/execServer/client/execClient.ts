import type { Disposable } from '../../../base/disposable.ts';
import type { Event } from '../../../base/event.ts';
import type { Span } from '../../../base/telemetry.ts';
import type { EnvironmentInfo } from '../protocol/handshake.ts';
import type {
  MethodName,
  NotificationName,
  NotificationParams,
  ParamsFor,
  ResultOf,
} from '../protocol/methods.ts';
import type { MessageTransport } from '../transport/messageTransport.ts';

/** Opens a new connection to the same server. Rejects when there is none, with {@link ServerGone} when there never will be. */
export type Dial = (signal: AbortSignal) => Promise<MessageTransport>;

export interface CallOptions {
  /** Gives up waiting; what the server does with the request is its affair. */
  readonly signal?: AbortSignal;
  /** What the call is a part of; the server's spans become parts of it as well. */
  readonly span?: Span;
}

/**
 * A session on an exec-server, through any number of connections: it outlives each of them for as long as the server
 * keeps it and one comes back.
 */
export interface ExecClient extends Disposable {
  readonly sessionId: string;
  readonly info: EnvironmentInfo;
  /** Whether the server is Cordon's own and speaks the words of `protocol/cordon.ts`. */
  readonly isCordon: boolean;
  readonly state: ClientState;
  readonly onDidChangeState: Event<ClientState>;
  /** Rejects with an `RpcError` that the server answered, or with {@link ConnectionLost}. */
  call<M extends MethodName>(method: M, params: ParamsFor<M>, options?: CallOptions): Promise<ResultOf<M>>;
  onNotification<N extends NotificationName>(
    method: N,
    listener: (params: NotificationParams<N>) => void,
  ): Disposable;
}

export type ClientState =
  | { readonly kind: 'connected' }
  /** The connection broke, and another one is tried. */
  | { readonly kind: 'recovering' }
  /** The session is gone for good. */
  | { readonly kind: 'lost'; readonly reason: string };

/** The connection broke before the answer, and the request must not be sent twice; or the session is gone. */
export class ConnectionLost extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'ConnectionLost';
  }
}

/** Nothing that is tried again would bring the server back. */
export class ServerGone extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'ServerGone';
  }
}
