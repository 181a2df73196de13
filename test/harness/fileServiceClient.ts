import { silentLog } from '../../src/base/log.ts';
import { RpcError } from '../../src/runtime/execServer/protocol/errors.ts';
import type {
  MethodName,
  NotificationParams,
  ParamsFor,
  ResultOf,
} from '../../src/runtime/execServer/protocol/methods.ts';
import { methods } from '../../src/runtime/execServer/protocol/methods.ts';
import type { ServiceFactory } from '../../src/runtime/execServer/server/service.ts';

/** Speaks to a service as a server's connection would, without one. */
export class ServiceClient {
  readonly events: NotificationParams<'fs/missingChanged'>[] = [];
  readonly #closed = new AbortController();
  readonly #handlers;

  constructor(factory: ServiceFactory) {
    this.#handlers = factory({
      log: silentLog,
      closed: this.#closed.signal,
      notify: (_method, params) => void this.events.push(params as never),
      isWritable: true,
      ask: () => Promise.reject(new Error('this client answers nothing')),
      whenWritable: async () => undefined,
    }).handlers;
  }

  async call<M extends MethodName>(method: M, params: ParamsFor<M>): Promise<ResultOf<M>> {
    const handler = this.#handlers[method];
    if (handler === undefined) {
      throw new Error(`no handler for ${method}`);
    }
    const parsed = methods[method].params.safeParse(params);
    if (!parsed.success) {
      throw new RpcError(-32_602, parsed.error.message);
    }
    return handler(parsed.data as never, {
      trace: undefined,
      signal: this.#closed.signal,
      holdUntilTaken: (held) => held.dispose(),
    });
  }

  /** The code of the error that a call is answered with; throws when there is none. */
  async refusal<M extends MethodName>(method: M, params: ParamsFor<M>): Promise<RpcError> {
    try {
      await this.call(method, params);
    } catch (error) {
      if (error instanceof RpcError) {
        return error;
      }
      throw error;
    }
    throw new Error(`${method} was not refused`);
  }

  close(): void {
    this.#closed.abort();
  }
}
