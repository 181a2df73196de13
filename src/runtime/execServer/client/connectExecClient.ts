import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../../base/log.ts';
import { silentLog } from '../../../base/log.ts';
import { inSpan } from '../../../base/telemetry.ts';
import { ClientConnection } from './clientConnection.ts';
import type { Dial, ExecClient } from './execClient.ts';
import { isAttached, SessionClient } from './sessionClient.ts';
import type { ClientTiming } from './timing.ts';
import { defaultTiming } from './timing.ts';

export interface ConnectOptions {
  /** How the server's log calls this client. */
  readonly clientName?: string;
  /** The session of an earlier client, as long as the server keeps it. */
  readonly resumeSessionId?: string;
  readonly log?: Log;
  /** Gives up connecting; what is connected stays. */
  readonly signal?: AbortSignal;
  readonly timing?: Partial<ClientTiming>;
}

/**
 * Opens a session on the server to which `dial` leads, or takes one up again. Rejects with what `dial` rejects with,
 * with an `RpcError` that the server answered, or with an error that says what was wrong with its answer.
 */
export async function connectExecClient(dial: Dial, options: ConnectOptions = {}): Promise<ExecClient> {
  const timing = { ...defaultTiming, ...options.timing };
  const { clientName = 'cordon', resumeSessionId, log = silentLog } = options;
  const deadline = performance.now() + timing.recoveryMs;
  for (;;) {
    const signal = AbortSignal.any([
      AbortSignal.timeout(timing.attemptMs),
      ...(options.signal === undefined ? [] : [options.signal]),
    ]);
    try {
      return await inSpan('exec-server connect', { kind: 'client' }, async () => {
        const connection = new ClientConnection(await dial(signal));
        const result = await connection.initialize(
          { clientName, ...(resumeSessionId !== undefined && { resumeSessionId }) },
          signal,
        );
        return await SessionClient.open(connection, result, { dial, clientName, log, timing });
      });
    } catch (cause) {
      if (!isAttached(cause) || performance.now() > deadline) {
        throw cause;
      }
      await delay(timing.retryMs, undefined, options.signal && { signal: options.signal });
    }
  }
}
