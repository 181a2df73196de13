import { silentLog } from '../../src/base/log.ts';
import type { NotificationName } from '../../src/runtime/execServer/protocol/methods.ts';
import { methods } from '../../src/runtime/execServer/protocol/methods.ts';
import type { MethodName, ParamsFor, ResultOf } from '../../src/runtime/execServer/protocol/methods.ts';
import type { Service, ServiceFactory } from '../../src/runtime/execServer/server/service.ts';

export interface SentNotification {
  readonly method: NotificationName;
  readonly params: Readonly<Record<string, unknown>>;
}

/** One service with a connection of its own, without a server: what it is asked, and what it sends. */
export class ServiceBench {
  readonly sent: SentNotification[] = [];
  readonly #closing = new AbortController();
  readonly #service: Service;
  #writable = Promise.resolve();
  #isHeld = false;
  #release = (): void => {};

  constructor(factory: ServiceFactory) {
    const isWritable = (): boolean => !this.#isHeld;
    this.#service = factory({
      log: silentLog,
      closed: this.#closing.signal,
      get isWritable() {
        return isWritable();
      },
      notify: (method, params) => this.sent.push({ method, params }),
      ask: () => Promise.reject(new Error('this client answers nothing')),
      whenWritable: () => this.#writable,
    });
  }

  /** As a connection calls: params are decoded first. */
  async call<M extends MethodName>(method: M, params: ParamsFor<M>): Promise<ResultOf<M>> {
    const handler = this.#service.handlers[method];
    if (handler === undefined) {
      throw new Error(`the service does not answer ${method}`);
    }
    const decoded = methods[method].params.parse(params) as Parameters<typeof handler>[0];
    return handler(decoded, {
      trace: undefined,
      signal: this.#closing.signal,
      holdUntilTaken: (held) => held.dispose(),
    });
  }

  /** The client takes nothing more until it is released. */
  hold(): void {
    this.#isHeld = true;
    this.#writable = new Promise((resolve) => {
      this.#release = () => {
        this.#isHeld = false;
        this.#writable = Promise.resolve();
        resolve();
      };
    });
  }

  release(): void {
    this.#release();
  }

  close(): void {
    this.#closing.abort();
  }
}
