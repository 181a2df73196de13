import type { SandboxManager } from '../../../sandbox/sandboxManager.ts';
import type { ServerNetwork } from '../services/http/serverNetwork.ts';
import { longestAnswer } from '../services/files/limits.ts';
import type { SandboxConfiguration } from '../services/processes/backends.ts';
import { Backends } from '../services/processes/backends.ts';
import type { ContextMachine } from '../services/sandboxContext/contextMachine.ts';
import { contextMachine } from '../services/sandboxContext/contextMachine.ts';
import type { EnvironmentInfo } from '../protocol/handshake.ts';
import type { MessageTransport } from '../transport/messageTransport.ts';
import { AnswerBudget } from './answerBudget.ts';
import { Connection } from './connection.ts';
import type { Installation } from './environmentInfo.ts';
import { announced, ownShell, serverInfo } from './environmentInfo.ts';
import { environmentService } from './environmentService.ts';
import { Inbound } from './inbound.ts';
import type { ServerLog } from './serverLog.ts';
import type { Handlers, ServedConnection } from './service.ts';
import { serviceFactories } from './services.ts';
import { Session } from './session.ts';
import { Sessions } from './sessions.ts';

export interface ExecServerOptions {
  readonly log: ServerLog;
  readonly installation: Installation;
  /** Of requests of one connection that are worked on at once. */
  readonly concurrentRequests: number;
  /** How long a session without a client lives. */
  readonly detachedMs: number;
  /** How long a closed process stays readable. */
  readonly retainClosedMs: number;
  /** Of the server's own: neither commands nor file calls nor patches write there, whatever their policy says. */
  readonly trustedPaths: readonly string[];
  readonly createSandbox: (configuration: SandboxConfiguration) => SandboxManager;
  /** What `http/request` reaches. */
  readonly network: ServerNetwork;
  /** What processes inherit. */
  readonly parentEnv: NodeJS.ProcessEnv;
  /** Its programs come first on the search path of processes that inherit it. */
  readonly helperFolder?: string;
  /** Whenever the last client and session is gone, or the first is there. */
  readonly onIdle?: (isIdle: boolean) => void;
}

/** Bytes of requests without an answer: as much as four clients may send. */
const mostInbound = 256 * 1024 * 1024;

/** Bytes of base64 in whole bodies: those of the web, which may let them wait for ever, keep no answer about files. */
const mostInBodies = 256 * 1024 * 1024;

/** Of what runs when the server ends: how long its end is waited for. */
const endMs = 3_000;

/** Serves any number of clients over any kind of transport. */
export class ExecServer {
  readonly #options: ExecServerOptions;
  readonly #sessions: Sessions;
  readonly #machine: ContextMachine;
  readonly #info: EnvironmentInfo;
  readonly #connections = new Set<Connection>();
  /** One of the largest at a time, or some that are smaller. */
  readonly #answers = new AnswerBudget(longestAnswer);
  readonly #bodies = new AnswerBudget(mostInBodies);
  readonly #inbound = new Inbound(mostInbound);
  #count = 0;

  constructor(options: ExecServerOptions) {
    this.#options = options;
    const { log, parentEnv, helperFolder, retainClosedMs } = options;
    const backends = new Backends(options.createSandbox, {
      parent: parentEnv,
      ...(helperFolder !== undefined && { inFront: helperFolder }),
    });
    const shell = ownShell(parentEnv);
    this.#info = serverInfo(options.installation, shell);
    this.#machine = contextMachine(parentEnv);
    this.#sessions = new Sessions(
      () => new Session(backends, { log, parentEnv, shell, retainClosedMs, machine: this.#machine }),
      options.detachedMs,
      () => this.#tellIdle(),
    );
  }

  /** Takes a new client, whose transport is paused yet. */
  accept(transport: MessageTransport): void {
    const { log, concurrentRequests, installation, parentEnv, network, trustedPaths } = this.#options;
    const number = ++this.#count;
    const state: { session?: Session; capabilities: readonly string[] } = { capabilities: [] };
    const info = () => ({ ...this.#info, capabilities: announced(state.capabilities) });
    const connection: Connection = new Connection(transport, {
      log,
      concurrentRequests,
      inbound: this.#inbound,
      initialize: (resumeId) => {
        state.session = this.#sessions.open(connection, resumeId);
        const { id } = state.session;
        log.record('session', { connection: number, session: nameOf(id), resumed: resumeId !== undefined });
        return { sessionId: id, environmentInfo: info() };
      },
      handlers: (served: ServedConnection): Handlers => {
        const factories = serviceFactories({
          sessionOf: () => expectSession(state.session),
          bundleFolder: installation.folder,
          parentEnv,
          machine: this.#machine,
          network,
          answers: this.#answers,
          bodies: this.#bodies,
          trustedPaths,
        });
        const services = [environmentService(info), ...factories.map((create) => create(served))];
        state.capabilities = services.flatMap(({ capabilities = [] }) => capabilities);
        return Object.assign({}, ...services.map(({ handlers }) => handlers)) as Handlers;
      },
    });
    this.#connections.add(connection);
    log.record('connect', { connection: number, transport: transport.name });
    transport.onClose(({ reason }) => {
      this.#connections.delete(connection);
      log.record('disconnect', { connection: number, ...(reason !== undefined && { reason }) });
      if (state.session !== undefined) {
        this.#sessions.detach(state.session);
      }
      this.#tellIdle();
    });
    this.#tellIdle();
    transport.resume();
  }

  /** Closes all connections and kills all processes; resolves when those have ended. */
  async close(): Promise<void> {
    this.#connections.forEach((connection) => connection.close());
    await Promise.race([this.#sessions.end(), new Promise((resolve) => setTimeout(resolve, endMs).unref())]);
  }

  #tellIdle(): void {
    this.#options.onIdle?.(this.#connections.size === 0 && this.#sessions.size === 0);
  }
}

function expectSession(session: Session | undefined): Session {
  if (session === undefined) {
    throw new Error('A service was called before the handshake.');
  }
  return session;
}

/** Whoever has the whole id can take the session over. */
function nameOf(sessionId: string): string {
  return sessionId.slice(0, 8);
}
