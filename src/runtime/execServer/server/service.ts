import type { Disposable } from '../../../base/disposable.ts';
import type { Log } from '../../../base/log.ts';
import type { Trace } from '../protocol/envelope.ts';
import type {
  MethodName,
  NotificationName,
  NotificationParams,
  ParamsOf,
  ResultOf,
  ServerMethodName,
  ServerParamsOf,
  ServerResultOf,
} from '../protocol/methods.ts';

/** What a service knows about the connection that it serves. */
export interface ServedConnection {
  readonly log: Log;
  /** Aborted when the connection is gone. */
  readonly closed: AbortSignal;
  notify<N extends NotificationName>(method: N, params: NotificationParams<N>): void;
  /**
   * Asks the client. Rejects with an `RpcError` that it answered, when its answer is malformed, when the signal aborts,
   * when the connection ends, and when too many questions wait already.
   */
  ask<M extends ServerMethodName>(
    method: M,
    params: ServerParamsOf<M>,
    signal: AbortSignal,
  ): Promise<ServerResultOf<M>>;
  /** Whether little enough waits to be sent that more may be made. */
  readonly isWritable: boolean;
  /** Resolves when little enough waits to be sent that more may be made; at once for a client that keeps up. */
  whenWritable(): Promise<void>;
}

export interface Call {
  readonly trace: Trace | undefined;
  /** Aborted when the connection is gone. */
  readonly signal: AbortSignal;
  /** Disposed when the answer is over: the client has taken it, or is gone. */
  readonly holdUntilTaken: (held: Disposable) => void;
}

/** Answers requests. Throws an `RpcError` to answer with an error; anything else thrown is an internal error. */
export type Handler<M extends MethodName> = (
  params: ParamsOf<M>,
  call: Call,
) => ResultOf<M> | Promise<ResultOf<M>>;

export type Handlers = { readonly [M in MethodName]?: Handler<M> };

/** The methods of one concern for one connection. What a connection holds (handles, streams, watches) ends with it. */
export interface Service {
  readonly handlers: Handlers;
  /** What of it is announced in `environmentInfo.capabilities`. */
  readonly capabilities?: readonly string[];
}

export type ServiceFactory = (connection: ServedConnection) => Service;
