import { Emitter } from '../../../base/event.ts';
import type { Result } from '../../../base/result.ts';
import { fail, ok } from '../../../base/result.ts';
import type { Upstream } from '../../../sandbox/network/upstream.ts';
import type { ExecBackend } from '../../exec/execBackend.ts';
import type { ClientState, ExecClient } from '../../execServer/client/execClient.ts';
import { lazyBackend } from '../../execServer/client/lazyBackend.ts';
import { uriOf } from '../../execServer/protocol/fileUri.ts';
import type { EnvironmentError, EnvironmentState } from '../environment.ts';
import { localName } from '../environment.ts';
import type { ThisMachine } from './inProcessEnvironment.ts';
import type { LocalServersOptions } from './localServers.ts';
import { isInUse, LocalServers, recoveryMs, Refused } from './localServers.ts';

/** What the server is told about the workspace: it holds for every later start. */
export interface ServerConfiguration {
  /** The folders that are open. */
  readonly untrustedFolders: readonly string[];
  /** What commands never write, whatever their policy says. */
  readonly trustedPaths: readonly string[];
  readonly upstream: Upstream | undefined;
}

export interface LocalEnvironmentOptions extends LocalServersOptions {
  readonly configuration: () => ServerConfiguration;
}

/**
 * This machine: commands run in a server of their own, which is started when it is needed and goes on when the program
 * ends, so that the next one can take over its sessions.
 */
export class LocalEnvironment implements ThisMachine {
  readonly name = localName;
  readonly address = 'this machine';
  readonly backend: ExecBackend;
  readonly #options: LocalEnvironmentOptions;
  readonly #servers: LocalServers;
  readonly #didChangeState = new Emitter<EnvironmentState>();
  readonly onDidChangeState = this.#didChangeState.event;
  #state: EnvironmentState = { kind: 'idle' };
  #client: ExecClient | undefined;
  #connecting: Promise<Result<ExecClient, EnvironmentError>> | undefined;
  #resuming: Promise<ExecClient | undefined> | undefined;
  #isDisposed = false;
  /** Starts that have not been answered. */
  #starting = 0;

  constructor(options: LocalEnvironmentOptions) {
    this.#options = options;
    this.#servers = new LocalServers(options);
    const timing = { recoveryMs };
    const remote = lazyBackend({ connect: () => this.connect(), log: options.log, timing });
    this.backend = {
      start: async (params) => {
        this.#starting += 1;
        try {
          return await remote.start(params);
        } finally {
          this.#starting -= 1;
        }
      },
      // Where nothing was left behind there is no reason to start a server.
      found: async () =>
        (await this.#resumed()) !== undefined && (await this.connect()).ok ? remote.found() : [],
    };
  }

  get state(): EnvironmentState {
    return this.#state;
  }

  connect(): Promise<Result<ExecClient, EnvironmentError>> {
    if (this.#client !== undefined && !this.#servers.isOld(this.#client)) {
      return Promise.resolve(ok(this.#client));
    }
    this.#connecting ??= this.#connect().finally(() => (this.#connecting = undefined));
    return this.#connecting;
  }

  prewarm(): void {
    if (this.#client === undefined) {
      void this.connect();
    }
  }

  /** One that is not there yet is told when it is. */
  async configure(): Promise<void> {
    if (this.#client !== undefined) {
      await configureClient(this.#client, this.#options.configuration());
    }
  }

  /** Leaves the server to itself: it ends when nobody comes back. */
  dispose(): void {
    this.#isDisposed = true;
    this.#client?.dispose();
    this.#didChangeState.dispose();
  }

  async #connect(): Promise<Result<ExecClient, EnvironmentError>> {
    const old = this.#client;
    if (old !== undefined) {
      // Another start may have taken it already, and have told it nothing yet.
      if (this.#starting > 1 || (await isInUse(old))) {
        return ok(old);
      }
      this.#client = undefined;
      await this.#servers.leave(old);
    }
    this.#setState({ kind: 'connecting' });
    try {
      const client = await this.#configured((await this.#takeResumed()) ?? (await this.#servers.start()));
      this.#client = client;
      client.onDidChangeState((state) => this.#follow(client, state));
      this.#setState({
        kind: 'connected',
        version: client.info.executorVersion ?? '',
        ...(this.#servers.isOld(client) && { isOtherBuild: true }),
      });
      return ok(client);
    } catch (cause) {
      const error = asError(cause);
      this.#options.log.error(`${error.message} ${error.hint}`);
      this.#setState({ kind: 'failed', error });
      return fail(error);
    }
  }

  async #configured(client: ExecClient): Promise<ExecClient> {
    try {
      await configureClient(client, this.#options.configuration());
      if (this.#isDisposed) {
        throw new Error('the window has closed');
      }
      return client;
    } catch (cause) {
      client.dispose();
      throw cause;
    }
  }

  /** Tried once: later on there are only the sessions of other windows. */
  #resumed(): Promise<ExecClient | undefined> {
    this.#resuming ??= this.#servers.takeOver();
    return this.#resuming;
  }

  async #takeResumed(): Promise<ExecClient | undefined> {
    const client = await this.#resumed();
    this.#resuming = Promise.resolve(undefined);
    return client;
  }

  #follow(client: ExecClient, state: ClientState): void {
    if (state.kind === 'lost' && client === this.#client && !this.#isDisposed) {
      this.#options.log.warn(
        `The server of this machine is gone: ${state.reason}. The next command starts another.`,
      );
      this.#client = undefined;
      void this.#servers.forget(client);
      this.#setState({ kind: 'idle' });
    }
  }

  #setState(state: EnvironmentState): void {
    this.#state = state;
    this.#didChangeState.fire(state);
  }
}

async function configureClient(client: ExecClient, configuration: ServerConfiguration): Promise<void> {
  const { untrustedFolders, trustedPaths, upstream } = configuration;
  await client.call('cordon/configure', {
    untrustedFolders: untrustedFolders.map(uriOf),
    trustedPaths: trustedPaths.map(uriOf),
    upstream: upstream === undefined ? null : { ...upstream, except: [...upstream.except] },
  });
}

function asError(cause: unknown): EnvironmentError {
  if (cause instanceof Refused) {
    return cause.error;
  }
  return {
    kind: 'unreachable',
    message: `The server that runs commands on this machine could not be started: ${(cause as Error).message}.`,
    hint: 'Try again; Cordon: Show Log tells more.',
  };
}
