import { once } from 'node:events';
import { rmSync } from 'node:fs';
import type { Server as HttpServer } from 'node:http';
import type { Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import type { Log } from '../../base/log.ts';
import type { Result } from '../../base/result.ts';
import { fail } from '../../base/result.ts';
import type { HostRules } from '../policy/hostRules.ts';
import type { BlockedRequest } from './blockedRequest.ts';
import type { CommandNetwork } from './commandNetwork.ts';
import type { Asked, Connection, Front } from './front.ts';
import type { Lookup, Passage } from './gate.ts';
import { Gate } from './gate.ts';
import type { Host } from './host.ts';
import { formatPlace, parseHost } from './host.ts';
import { createHttpFront } from './httpFront.ts';
import { openConnection, upstreamFor } from './openConnection.ts';
import type { Refusal } from './refusal.ts';
import { refusalOf } from './refusal.ts';
import { serveSocks, socksVersion } from './socksFront.ts';
import type { Upstream } from './upstream.ts';

const mostConnections = 512;
/** A client that connects and says nothing. */
const firstByteMs = 60_000;
/** Enough to explain a failure; a command that tries every host of the internet is explained by the first ones. */
const mostBlocked = 100;

export interface ProxyEndpointOptions {
  readonly socketPath: string;
  readonly rules: HostRules;
  readonly label: string;
  readonly log: Log;
  readonly lookup: Lookup;
  readonly upstream: () => Upstream | undefined;
  readonly network: CommandNetwork;
}

/** The proxy of one command. Everything that goes through it is closed with it. */
export class ProxyEndpoint implements Front {
  readonly socketPath: string;
  readonly #options: ProxyEndpointOptions;
  readonly #gate: Gate;
  /** Made for the first that speaks it: most commands never connect. */
  #http: HttpServer | undefined;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #blocked = new Map<string, BlockedRequest>();
  #isDisposed = false;

  constructor(options: ProxyEndpointOptions) {
    this.#options = options;
    this.socketPath = options.socketPath;
    this.#gate = new Gate({
      rules: options.rules,
      lookup: options.lookup,
      localAddresses: options.network.localAddresses,
      ...(options.network.review !== undefined && { review: options.network.review }),
      mayBeUnresolved: (host) => upstreamFor(options.upstream(), host) !== undefined,
    });
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
    this.#server.maxConnections = mostConnections;
    this.#server.on('drop', () => this.#note(`more than ${mostConnections} connections: one was closed`));
  }

  async listen(): Promise<void> {
    this.#server.listen({ path: this.socketPath });
    if (!this.#server.listening) {
      await once(this.#server, 'listening');
    }
  }

  /** What was refused so far, each host, port and reason once. */
  get blocked(): readonly BlockedRequest[] {
    return [...this.#blocked.values()];
  }

  async open(host: Host, port: number, asked: Asked): Promise<Result<Connection, Refusal>> {
    const admitted = await this.#admit(host, port, asked);
    const upstream = this.#options.upstream();
    const purpose = asked.protocol === 'http' ? 'forward' : 'tunnel';
    const own = (socket: Socket): void => this.#own(socket);
    const opened = admitted.ok
      ? await openConnection(admitted.value, { host, port, purpose, upstream, own })
      : admitted;
    if (opened.ok) {
      this.#note(`${formatPlace(host, port)} allowed`);
    } else {
      this.#note(opened.error.message);
      if (!admitted.ok) {
        this.#block(admitted.error, host.name, port);
      }
    }
    return opened;
  }

  admitsServerName(serverName: string, host: Host, port: number): boolean {
    if (this.#gate.admitsServerName(serverName, host, port)) {
      return true;
    }
    const refusal = refusalOf('server-name', { name: serverName }, port);
    this.#note(refusal.message);
    this.#block(refusal, serverName, port);
    const inner = parseHost(serverName) ?? { name: serverName };
    void this.#options.network.onOutcome?.({ request: { host: inner, port, protocol: 'connect' }, refusal });
    return false;
  }

  noteMalformed(what: string): void {
    this.#note(`refused: ${what}`);
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#server.close();
    this.#http?.close();
    for (const socket of this.#sockets) {
      socket.destroy();
    }
    rmSync(this.socketPath, { force: true });
  }

  async #admit(host: Host, port: number, asked: Asked): Promise<Result<Passage, Refusal>> {
    const { decide, isReadOnly, onOutcome } = this.#options.network;
    const request = { ...asked, host, port };
    const admitted =
      isReadOnly === true && !isReading(asked)
        ? fail(refusalOf('method', host, port))
        : await this.#gate.admit(host, port, decide && (() => decide(request)));
    await onOutcome?.({ request, refusal: admitted.ok ? undefined : admitted.error });
    return admitted;
  }

  #accept(socket: Socket): void {
    this.#own(socket);
    socket.setTimeout(firstByteMs, () => socket.destroy());
    socket.once('readable', () => {
      const first = socket.read(1) as Buffer | null;
      if (first === null) {
        socket.destroy();
        return;
      }
      socket.setTimeout(0);
      socket.removeAllListeners('timeout');
      socket.unshift(first);
      if (first[0] === socksVersion && this.#options.network.speaksSocks === false) {
        this.noteMalformed('a SOCKS5 client: this command has the HTTP proxy only');
        socket.destroy();
      } else if (first[0] === socksVersion) {
        void serveSocks(this, socket);
      } else {
        this.#http ??= createHttpFront(this);
        this.#http.emit('connection', socket);
      }
    });
  }

  #own(socket: Socket): void {
    if (this.#isDisposed) {
      socket.destroy();
      throw Object.assign(new Error('the command has ended'), { code: 'ECANCELED' });
    }
    this.#sockets.add(socket);
    // Whoever uses the socket sees the error, too; without a listener it would be the end of the runtime.
    socket.on('error', () => {});
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #block({ reason }: Refusal, host: string, port: number): void {
    const key = `${reason} ${host} ${port}`;
    const isBlock = reason !== undefined && reason !== 'malformed';
    if (isBlock && !this.#blocked.has(key) && this.#blocked.size < mostBlocked) {
      this.#blocked.set(key, { host, port, reason, time: Date.now() });
    }
  }

  #note(what: string): void {
    this.#options.log.debug(`network: ${what} [${this.#options.label}]`);
  }
}

const readingMethods = ['GET', 'HEAD', 'OPTIONS'];

function isReading({ protocol, method = '', isUpgrade }: Asked): boolean {
  return protocol === 'http' && isUpgrade !== true && readingMethods.includes(method);
}
