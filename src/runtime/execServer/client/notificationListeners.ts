import type { Disposable } from '../../../base/disposable.ts';
import { toDisposable } from '../../../base/disposable.ts';
import type { Log } from '../../../base/log.ts';
import type { NotificationName, NotificationParams } from '../protocol/methods.ts';
import { notifications } from '../protocol/methods.ts';

/** Who wants to know what the server tells; what it tells is checked before. */
export class NotificationListeners {
  readonly #log: Log;
  readonly #listeners = new Map<string, Set<(params: never) => void>>();

  constructor(log: Log) {
    this.#log = log;
  }

  add<N extends NotificationName>(method: N, listener: (params: NotificationParams<N>) => void): Disposable {
    const listeners = this.#listeners.get(method) ?? new Set();
    this.#listeners.set(method, listeners);
    const entry = (params: NotificationParams<N>): void => listener(params);
    listeners.add(entry);
    return toDisposable(() => listeners.delete(entry));
  }

  /** Calls the listeners; false when there are none. */
  tell(method: string, params: unknown): boolean {
    const listeners = this.#listeners.get(method);
    if (listeners === undefined || listeners.size === 0) {
      return false;
    }
    const parsed = isOutput(method, params)
      ? { success: true as const, data: params }
      : notifications[method as NotificationName].safeParse(params);
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      this.#log.warn(
        `The exec-server's notification ${method} is malformed: ${issue?.path.join('.')}: ${issue?.message}`,
      );
      return true;
    }
    for (const listener of [...listeners]) {
      listener(parsed.data as never);
    }
    return true;
  }
}

/** Spares the schema where there are thousands a second. */
function isOutput(method: string, params: unknown): boolean {
  if (method !== 'process/output' || typeof params !== 'object' || params === null) {
    return false;
  }
  const { processId, seq, stream, chunk } = params as Record<string, unknown>;
  return (
    typeof processId === 'string' &&
    Number.isSafeInteger(seq) &&
    (stream === 'stdout' || stream === 'stderr' || stream === 'pty') &&
    typeof chunk === 'string'
  );
}
