import { Emitter } from '../../base/event.ts';
import type { Log } from '../../base/log.ts';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import type { ExecBackend } from '../exec/execBackend.ts';
import type { ConnectOptions } from '../execServer/client/connectExecClient.ts';
import type { Dial, ExecClient } from '../execServer/client/execClient.ts';
import { lazyBackend } from '../execServer/client/lazyBackend.ts';
import type { ClientTiming } from '../execServer/client/timing.ts';
import { uriOf } from '../execServer/protocol/fileUri.ts';
import type { MessageTransport } from '../execServer/transport/messageTransport.ts';
import type { Environment, EnvironmentError, EnvironmentState, SessionMemory } from './environment.ts';

export interface RemoteEnvironmentOptions {
  readonly name: string;
  readonly address: string;
  /** The folder on that machine that commands work in. */
  readonly folder: string;
  readonly log: Log;
  /** Opens a connection to the server, which may have to be installed and started first. */
  readonly dial: (signal: AbortSignal) => Promise<Result<MessageTransport, EnvironmentError>>;
  readonly timing?: Partial<ClientTiming>;
  readonly sessions?: SessionMemory | undefined;
}

/** How long a session that was remembered may still be attached to the program before. */
const takeoverMs = 10_000;

/** A machine whose exec-server is reached over some transport: one session, opened when it is needed. */
export function createRemoteEnvironment(options: RemoteEnvironmentOptions): Environment {
  return new RemoteEnvironment(options);
}

class RemoteEnvironment implements Environment {
  readonly name: string;
  readonly address: string;
  readonly folder: string;
  readonly backend: ExecBackend;
  readonly #options: RemoteEnvironmentOptions;
  readonly #stateChanged = new Emitter<EnvironmentState>();
  readonly onDidChangeState = this.#stateChanged.event;
  readonly #end = new AbortController();
  /** Of the connection that is being made. */
  #attempt = new AbortController();
  #state: EnvironmentState = { kind: 'idle' };
  #client: ExecClient | undefined;
  #opening: Promise<Result<ExecClient, EnvironmentError>> | undefined;

  constructor(options: RemoteEnvironmentOptions) {
    this.#options = options;
    this.name = options.name;
    this.address = options.address;
    this.folder = options.folder;
    const remote = lazyBackend({
      connect: () => this.connect(),
      log: options.log,
      ...(options.timing && { timing: options.timing }),
    });
    this.backend = {
      start: (params) => remote.start(params),
      // Where nothing was left behind there is no reason to connect.
      found: async () => (options.sessions?.sessionOf(options.name) === undefined ? [] : remote.found()),
    };
  }

  get state(): EnvironmentState {
    return this.#state;
  }

  async connect(): Promise<Result<ExecClient, EnvironmentError>> {
    if (this.#client !== undefined) {
      return ok(this.#client);
    }
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  prewarm(): void {
    void this.connect();
  }

  cancel(): void {
    this.#attempt.abort(new Error('it was cancelled'));
  }

  dispose(): void {
    this.#end.abort(new Error(`the environment ${this.name} was closed`));
    this.#client?.dispose();
    this.#stateChanged.dispose();
  }

  async #open(): Promise<Result<ExecClient, EnvironmentError>> {
    this.#setState({ kind: 'connecting' });
    this.#attempt = new AbortController();
    const first = await this.#tryOpen();
    // The server may just have been about to end, because nobody needed it.
    const last = first.ok || first.error.kind !== 'wrong-version' ? first : await this.#tryOpen();
    const opened = !last.ok && this.#attempt.signal.aborted ? fail(this.#cancelled()) : last;
    if (!opened.ok) {
      this.#setState({ kind: 'failed', error: opened.error });
      return opened;
    }
    const client = opened.value;
    this.#client = client;
    this.#setState(connected(client));
    client.onDidChangeState((state) => {
      switch (state.kind) {
        case 'connected':
          return this.#setState(connected(client));
        case 'recovering':
          return this.#setState({ kind: 'connecting' });
        case 'lost':
          this.#client = undefined;
          if (!this.#end.signal.aborted) {
            this.#remember(undefined);
          }
          return this.#setState({ kind: 'failed', error: this.#lost(state.reason) });
      }
    });
    return opened;
  }

  async #tryOpen(): Promise<Result<ExecClient, EnvironmentError>> {
    let transport: MessageTransport | undefined;
    const redial: Dial = async (signal) => {
      const given = transport;
      transport = undefined;
      return given ?? this.#dial(signal);
    };
    try {
      // An installation takes as long as it takes: the limits of the session are for what follows.
      transport = await redial(this.#untilCancelled());
      const client = await this.#configured((await this.#resumed(redial)) ?? (await this.#connected(redial)));
      this.#remember(client.sessionId);
      return ok(client);
    } catch (cause) {
      return fail(cause instanceof DialFailed ? cause.error : this.#noServer(cause));
    }
  }

  /** Rejects with a {@link DialFailed}, whatever went wrong. */
  async #dial(signal: AbortSignal): Promise<MessageTransport> {
    try {
      return unwrapped(await this.#options.dial(signal));
    } catch (cause) {
      throw cause instanceof DialFailed ? cause : new DialFailed(this.#noConnection(cause));
    }
  }

  async #configured(client: ExecClient): Promise<ExecClient> {
    try {
      if (client.isCordon) {
        const untrustedFolders = [uriOf(this.#options.folder)];
        await client.call('cordon/configure', { untrustedFolders, trustedPaths: [] });
      }
      this.#end.signal.throwIfAborted();
      return client;
    } catch (cause) {
      client.dispose();
      throw cause;
    }
  }

  /** The session that the program before this one had; undefined when there is none any more. */
  async #resumed(redial: Dial): Promise<ExecClient | undefined> {
    const { sessions, name, log } = this.#options;
    const resumeSessionId = sessions?.sessionOf(name);
    if (resumeSessionId === undefined) {
      return undefined;
    }
    try {
      return await this.#connected(redial, { resumeSessionId, signal: AbortSignal.timeout(takeoverMs) });
    } catch (cause) {
      if (cause instanceof DialFailed) {
        throw cause;
      }
      log.info(`the session on ${name} from before cannot be taken over: ${String(cause)}`);
      this.#remember(undefined);
      return undefined;
    }
  }

  async #connected(redial: Dial, { signal, ...more }: ConnectOptions = {}): Promise<ExecClient> {
    const { log, timing } = this.#options;
    const { connectExecClient } = await import('../execServer/client/connectExecClient.ts');
    return connectExecClient(redial, {
      log,
      signal: AbortSignal.any([this.#untilCancelled(), ...(signal === undefined ? [] : [signal])]),
      ...(timing && { timing }),
      ...more,
    });
  }

  #untilCancelled(): AbortSignal {
    return AbortSignal.any([this.#end.signal, this.#attempt.signal]);
  }

  #remember(sessionId: string | undefined): void {
    this.#options.sessions?.remember(this.name, sessionId);
  }

  #cancelled(): EnvironmentError {
    return {
      kind: 'unreachable',
      message: `Connecting to ${this.address} was cancelled.`,
      hint: 'The next command connects again.',
    };
  }

  #noConnection(cause: unknown): EnvironmentError {
    return {
      kind: 'unreachable',
      message: `Connecting to ${this.address} failed: ${cause instanceof Error ? cause.message : String(cause)}.`,
      hint: 'Try again; Cordon: Show Log tells more.',
    };
  }

  #noServer(cause: unknown): EnvironmentError {
    return {
      kind: 'wrong-version',
      message: `${this.address} does not answer as an exec-server: ${cause instanceof Error ? cause.message : String(cause)}.`,
      hint: 'Check that the address is that of an exec-server, and that both sides are of a recent version.',
    };
  }

  #lost(reason: string): EnvironmentError {
    return {
      kind: 'unreachable',
      message: `The connection to ${this.address} is lost, and with it what ran there: ${reason}.`,
      hint: 'The next command connects again.',
    };
  }

  #setState(state: EnvironmentState): void {
    this.#state = state;
    this.#stateChanged.fire(state);
  }
}

function connected({ info }: ExecClient): EnvironmentState {
  return { kind: 'connected', version: info.cordon?.build ?? info.executorVersion ?? 'unknown' };
}

/** A dial's error on its way through the client, which knows only exceptions. */
class DialFailed extends Error {
  readonly error: EnvironmentError;

  constructor(error: EnvironmentError) {
    super(error.message);
    this.error = error;
  }
}

function unwrapped<T>(result: Result<T, EnvironmentError>): T {
  if (!result.ok) {
    throw new DialFailed(result.error);
  }
  return result.value;
}
