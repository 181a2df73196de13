import { lookup as lookupInSystem } from 'node:dns/promises';
import type { Log } from '../../base/log.ts';
import type { SandboxPolicy } from '../policy/policy.ts';
import type { CommandNetwork } from './commandNetwork.ts';
import type { Lookup } from './gate.ts';
import { ProxyEndpoint } from './proxyEndpoint.ts';
import { socketPathIn, sweepSockets } from './socketFiles.ts';
import type { Upstream } from './upstream.ts';
import { upstreamFromEnvironment } from './upstream.ts';

/** A host that a command asks for and that no rule knows. */
export interface NetworkRequest {
  readonly host: string;
  readonly port: number;
  /** What runs, in words. */
  readonly label: string;
  readonly policy: SandboxPolicy;
}

/** How the proxy reaches the world; everything has a default. */
export interface NetworkAccess {
  readonly lookup?: Lookup;
  /** Asked about hosts that no rule knows, never about denied or local ones; without it the answer is no. */
  readonly decide?: (request: NetworkRequest) => Promise<'allow' | 'deny'>;
  /** The proxy that the machine itself is behind, if any; by default what the usual variables say. */
  readonly upstream?: () => Upstream | undefined;
}

export interface NetworkProxyOptions extends NetworkAccess {
  /** The runtime folder: mode 0700, its path short enough for a socket in it. */
  readonly folder: string;
  readonly log: Log;
}

/**
 * The way out of sandboxes with an allow-list: an HTTP and SOCKS5 proxy with a Unix socket of its own for each
 * command, so that every request is known to be of one command and judged by its policy.
 */
export class NetworkProxy {
  readonly #options: NetworkProxyOptions;
  #swept: Promise<void> | undefined;

  constructor(options: NetworkProxyOptions) {
    this.#options = options;
  }

  /** Listens for one command. Rejects when the socket cannot be made, or a rule for hosts is none. */
  async open(policy: SandboxPolicy, label: string, network: CommandNetwork = {}): Promise<ProxyEndpoint> {
    const { folder, log, decide, upstream = upstreamOfMachine, lookup = lookUp } = this.#options;
    this.#swept ??= sweepSockets(folder);
    await this.#swept;
    const endpoint = new ProxyEndpoint({
      socketPath: socketPathIn(folder, 'net'),
      rules: policy.hosts,
      label,
      log,
      lookup,
      upstream: network.usesUpstream === false ? () => undefined : upstream,
      network: {
        ...(decide && { decide: ({ host, port }) => decide({ host: host.name, port, label, policy }) }),
        ...network,
      },
    });
    await endpoint.listen();
    return endpoint;
  }
}

/** What this process's own variables say. */
export function upstreamOfMachine(): Upstream | undefined {
  return upstreamFromEnvironment(process.env);
}

/** As the system has it, every time anew. */
export async function lookUp(name: string): Promise<string[]> {
  return (await lookupInSystem(name, { all: true })).map(({ address }) => address);
}
