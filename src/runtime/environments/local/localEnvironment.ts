import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { Emitter } from '../../../base/event.ts';
import type { Log } from '../../../base/log.ts';
import type { Result } from '../../../base/result.ts';
import { fail, ok } from '../../../base/result.ts';
import type { Upstream } from '../../../sandbox/network/upstream.ts';
import { errorCode } from '../../../sandbox/paths.ts';
import type { ExecBackend } from '../../exec/execBackend.ts';
import type { ClientState, Dial, ExecClient } from '../../execServer/client/execClient.ts';
import { ServerGone } from '../../execServer/client/execClient.ts';
import { buildOf } from '../../execServer/buildOf.ts';
import { lazyBackend } from '../../execServer/client/lazyBackend.ts';
import { errorCodes, RpcError } from '../../execServer/protocol/errors.ts';
import { uriOf } from '../../execServer/protocol/fileUri.ts';
import type { Environment, EnvironmentError, EnvironmentState } from '../environment.ts';
import { localName } from '../environment.ts';
import type { ServerRecord, ServerRecords } from './serverRecords.ts';
import type { ServerPatience } from './spawnServer.ts';
import { spawnServer } from './spawnServer.ts';

/** What the server is told about the workspace: it holds for every later start. */
export interface ServerConfiguration {
  /** The folders that are open. */
  readonly untrustedFolders: readonly string[];
  /** What commands never write, whatever their policy says. */
  readonly trustedPaths: readonly string[];
  readonly upstream: Upstream | undefined;
}

export interface LocalEnvironmentOptions {
  readonly log: Log;
  /** `dist/cli.js`. */
  readonly program: string;
  readonly records: ServerRecords;
  /** A folder that only this user may look into, and commands not at all. */
  readonly runtimeFolder: () => Result<string, { readonly message: string; readonly hint: string }>;
  readonly configuration: () => ServerConfiguration;
  readonly environment: NodeJS.ProcessEnv;
  readonly patience?: ServerPatience;
}

/** A server of another window may keep its session for so long, and this one's may be on its way out. */
const recoveryMs = 3_000;

/**
 * This machine: commands run in a server of their own, which is started when it is needed and goes on when the program
 * ends, so that the next one can take over its sessions.
 */
export class LocalEnvironment implements Environment {
  readonly name = localName;
  readonly address = 'this machine';
  readonly backend: ExecBackend;
  readonly #options: LocalEnvironmentOptions;
  readonly #didChangeState = new Emitter<EnvironmentState>();
  readonly onDidChangeState = this.#didChangeState.event;
  #state: EnvironmentState = { kind: 'idle' };
  #client: ExecClient | undefined;
  #connecting: Promise<Result<ExecClient, EnvironmentError>> | undefined;
  #resuming: Promise<ExecClient | undefined> | undefined;
  #isDisposed = false;
  /** The server that was taken over, when it is of another build. */
  #old: ExecClient | undefined;
  /** Starts that have not been answered. */
  #starting = 0;

  constructor(options: LocalEnvironmentOptions) {
    this.#options = options;
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
    if (this.#client !== undefined && this.#client !== this.#old) {
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

  /** Tells the server what has changed; one that is not there yet is told when it is. */
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
      if (this.#starting > 1 || (await isInUse(old).catch(() => true))) {
        return ok(old);
      }
      this.#client = undefined;
      await this.#leave(old);
    }
    this.#setState({ kind: 'connecting' });
    try {
      const client = await this.#configured((await this.#takeResumed()) ?? (await this.#spawn()));
      this.#client = client;
      client.onDidChangeState((state) => this.#follow(client, state));
      this.#setState({
        kind: 'connected',
        version: client.info.executorVersion ?? '',
        ...(client === this.#old && { isOtherBuild: true }),
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
      if (this.#isDisposed) {
        throw new Error('the window has closed');
      }
      await configureClient(client, this.#options.configuration());
      return client;
    } catch (cause) {
      client.dispose();
      throw cause;
    }
  }

  /** Tried once: later on there are only the sessions of other windows. */
  #resumed(): Promise<ExecClient | undefined> {
    this.#resuming ??= this.#resume();
    return this.#resuming;
  }

  async #takeResumed(): Promise<ExecClient | undefined> {
    const client = await this.#resumed();
    this.#resuming = Promise.resolve(undefined);
    return client;
  }

  /** The session of an earlier program for this workspace, unless another window has it. */
  async #resume(): Promise<ExecClient | undefined> {
    const { program, records, log } = this.#options;
    for (const record of records.list()) {
      try {
        const client = await this.#open(record.path, record.sessionId);
        if (client.info.cordon?.build === buildOf(dirname(program))) {
          log.info(`Took over the session on ${record.path}.`);
          return client;
        }
        if (await isInUse(client)) {
          this.#old = client;
          log.warn(
            `Took over the session on ${record.path}, whose server is of another build (${client.info.executorVersion}): commands go on running in it until nothing of it runs.`,
          );
          return client;
        }
        await this.#leave(client);
      } catch (cause) {
        if (cause instanceof RpcError && cause.code === errorCodes.sessionAttached) {
          log.info(`The session on ${record.path} belongs to another window.`);
        } else {
          log.info(`The session on ${record.path} is gone: ${String(cause)}`);
          await this.#forget(record, cause);
        }
      }
    }
    return undefined;
  }

  async #spawn(): Promise<ExecClient> {
    const { program, environment, records, patience } = this.#options;
    const folder = this.#options.runtimeFolder();
    if (!folder.ok) {
      throw new Refused({ kind: 'refused', ...folder.error });
    }
    const path = await spawnServer({
      ...{ program, folder: folder.value, environment },
      ...(patience && { patience }),
    });
    const client = await this.#open(path);
    // Before anything is started in it: what nobody finds again would be lost.
    await records.add({ path, sessionId: client.sessionId });
    return client;
  }

  async #open(path: string, resumeSessionId?: string): Promise<ExecClient> {
    const { connectExecClient } = await import('../../execServer/client/connectExecClient.ts');
    return connectExecClient(dialLocal(path), {
      clientName: 'cordon',
      log: this.#options.log,
      timing: { recoveryMs },
      ...(resumeSessionId !== undefined && { resumeSessionId }),
    });
  }

  /** Of a server from before an update, which has nothing more to run: it ends by itself. */
  async #leave(client: ExecClient): Promise<void> {
    this.#options.log.info(
      'Left a server of another build, in which nothing runs: a new one takes its place.',
    );
    client.dispose();
    await this.#forgetSession(client);
  }

  async #forgetSession({ sessionId }: ExecClient): Promise<void> {
    const record = this.#options.records.list().find((one) => one.sessionId === sessionId);
    if (record !== undefined) {
      await this.#options.records.remove(record);
    }
  }

  async #forget(record: ServerRecord, cause: unknown): Promise<void> {
    if (cause instanceof ServerGone) {
      rmSync(record.path, { force: true });
    }
    await this.#options.records.remove(record);
  }

  #follow(client: ExecClient, state: ClientState): void {
    if (state.kind === 'lost' && client === this.#client && !this.#isDisposed) {
      this.#options.log.warn(
        `The server of this machine is gone: ${state.reason}. The next command starts another.`,
      );
      this.#client = undefined;
      void this.#forgetSession(client);
      this.#setState({ kind: 'idle' });
    }
  }

  #setState(state: EnvironmentState): void {
    this.#state = state;
    this.#didChangeState.fire(state);
  }
}

async function isInUse(client: ExecClient): Promise<boolean> {
  const { processes } = await client.call('cordon/process/list', {});
  return processes.some(({ isRunning }) => isRunning);
}

/** Nothing of the socket of a server that has ended can come back. */
function dialLocal(path: string): Dial {
  return async (signal) => {
    const { dialUnixSocket } = await import('../../execServer/client/dial.ts');
    try {
      return await dialUnixSocket(path)(signal);
    } catch (cause) {
      const code = errorCode(cause);
      throw code === 'ENOENT' || code === 'ECONNREFUSED'
        ? new ServerGone('its server has ended', { cause })
        : cause;
    }
  };
}

async function configureClient(client: ExecClient, configuration: ServerConfiguration): Promise<void> {
  const { untrustedFolders, trustedPaths, upstream } = configuration;
  await client.call('cordon/configure', {
    untrustedFolders: untrustedFolders.map(uriOf),
    trustedPaths: trustedPaths.map(uriOf),
    upstream: upstream === undefined ? null : { url: upstream.url, except: [...upstream.except] },
  });
}

class Refused extends Error {
  readonly error: EnvironmentError;

  constructor(error: EnvironmentError) {
    super(error.message);
    this.error = error;
  }
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
