import { once } from 'node:events';
import { WebSocket } from 'ws';
import { connectExecClient } from '../../src/runtime/execServer/client/connectExecClient.ts';
import { dialWebSocket } from '../../src/runtime/execServer/client/dial.ts';
import type { Dial, ExecClient } from '../../src/runtime/execServer/client/execClient.ts';
import { uriOf } from '../../src/runtime/execServer/protocol/fileUri.ts';
import type { ParamsFor } from '../../src/runtime/execServer/protocol/methods.ts';
import { webSocketTransport } from '../../src/runtime/execServer/transport/webSocket.ts';

export interface Run {
  /** Resolves with the exit code, at the exit. */
  readonly exited: Promise<number>;
  /** All of its output is here. */
  readonly closed: Promise<void>;
  readonly bytes: number;
  /** Resolves with the next output. */
  nextOutput(): Promise<void>;
}

interface Watched {
  readonly exited: PromiseWithResolvers<number>;
  readonly closed: PromiseWithResolvers<void>;
  output: PromiseWithResolvers<void>;
  bytes: number;
}

let ids = 0;

/** One server as a client sees it: what it pushes is told apart by process, and nothing else is done with it. */
export class Side {
  readonly client: ExecClient;
  readonly #watched = new Map<string, Watched>();

  private constructor(client: ExecClient) {
    this.client = client;
    client.onNotification('process/output', ({ processId, chunk }) => {
      const watched = this.#watched.get(processId);
      if (watched !== undefined) {
        watched.bytes += Buffer.byteLength(chunk, 'base64');
        watched.output.resolve();
        watched.output = Promise.withResolvers();
      }
    });
    client.onNotification('process/exited', ({ processId, exitCode }) =>
      this.#watched.get(processId)?.exited.resolve(exitCode),
    );
    client.onNotification('process/closed', ({ processId }) =>
      this.#watched.get(processId)?.closed.resolve(),
    );
  }

  static async open(url: string, client: 'ours' | 'usual' = 'ours'): Promise<Side> {
    return new Side(await connectExecClient(client === 'ours' ? dialWebSocket(url) : usually(url)));
  }

  /** Resolves when the start is answered. */
  async start(
    argv: readonly string[],
    more: Partial<ParamsFor<'process/start'>> = {},
  ): Promise<Run & { readonly processId: string }> {
    const processId = `bench-${++ids}`;
    const watched: Watched = {
      exited: Promise.withResolvers(),
      closed: Promise.withResolvers(),
      output: Promise.withResolvers(),
      bytes: 0,
    };
    this.#watched.set(processId, watched);
    // Under load the peer sends the exit after the end at times.
    void Promise.all([watched.exited.promise, watched.closed.promise]).then(() =>
      this.#watched.delete(processId),
    );
    await this.client.call('process/start', {
      processId,
      argv: [...argv],
      cwd: uriOf('/'),
      env: { PATH: '/usr/bin:/bin' },
      tty: false,
      ...more,
    });
    return {
      processId,
      exited: watched.exited.promise,
      closed: watched.closed.promise,
      get bytes() {
        return watched.bytes;
      },
      nextOutput: () => watched.output.promise,
    };
  }

  /** From start to closed; anything but success would make the time worthless. */
  async toEnd(argv: readonly string[], more: Partial<ParamsFor<'process/start'>> = {}): Promise<Run> {
    const run = await this.start(argv, more);
    await run.closed;
    const exitCode = await run.exited;
    if (exitCode !== 0) {
      throw new Error(`${argv[0]} ended with ${exitCode}`);
    }
    return run;
  }

  dispose(): void {
    this.client.dispose();
  }
}

/** Without what ours does about servers that wait for acknowledgements: they come when the system sends them. */
function usually(url: string): Dial {
  return async () => {
    const socket = new WebSocket(url, { perMessageDeflate: false, maxPayload: 0 });
    await once(socket, 'open');
    return webSocketTransport(socket, url);
  };
}
