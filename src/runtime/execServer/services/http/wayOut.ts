import type { Socket } from 'node:net';
import { Agent, buildConnector } from 'undici';
import type { Result } from '../../../../base/result.ts';
import { fail, ok } from '../../../../base/result.ts';
import type { Lookup, Passage } from '../../../../sandbox/network/gate.ts';
import { Gate } from '../../../../sandbox/network/gate.ts';
import type { Host } from '../../../../sandbox/network/host.ts';
import { formatPlace, parseHost } from '../../../../sandbox/network/host.ts';
import { HostMatcher } from '../../../../sandbox/network/matchHost.ts';
import { openConnection, upstreamFor } from '../../../../sandbox/network/openConnection.ts';
import type { Refusal } from '../../../../sandbox/network/refusal.ts';
import type { Upstream } from '../../../../sandbox/network/upstream.ts';
import { parseAddress } from '../../../../sandbox/policy/addresses.ts';
import type { ServerNetwork } from './serverNetwork.ts';

export interface WayOutOptions {
  readonly network: ServerNetwork;
  readonly lookup: Lookup;
  /** The proxy that the machine is behind, if any. */
  readonly upstream: () => Upstream | undefined;
}

/** Why a host was not reached: the message names it. */
export class Unreached extends Error {}

/**
 * An agent whose every connection, those after redirects among them, goes through the rules of the server's network. A
 * name is looked up once, and what was found is what is connected to.
 */
export function createWayOut(options: WayOutOptions): Agent {
  const admit = admission(options);
  const secure = buildConnector({ allowH2: false });
  const open = async (hostname: string, port: number): Promise<Socket> => {
    const host = parseHost(hostname);
    if (host === undefined) {
      throw new Unreached(`"${hostname}" is no host`);
    }
    const passage = await admit(host, port);
    if (!passage.ok) {
      throw new Unreached(passage.error);
    }
    const opened = await openConnection(passage.value, {
      host,
      port,
      purpose: 'tunnel',
      upstream: options.upstream(),
      // Whoever uses it sees the error, too.
      own: (socket) => socket.on('error', () => {}),
    });
    if (!opened.ok) {
      throw new Unreached(opened.error.message);
    }
    return opened.value.socket;
  };
  return new Agent({
    allowH2: false,
    // The client's own time limit counts, and no other.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (target, callback) => {
      const isSecure = target.protocol === 'https:';
      open(target.hostname, Number(target.port) || (isSecure ? 443 : 80)).then(
        (socket) => (isSecure ? secure({ ...target, httpSocket: socket }, callback) : callback(null, socket)),
        (error: unknown) => callback(error as Error, null),
      );
    },
  });
}

type Admit = (host: Host, port: number) => Promise<Result<Passage, string>>;

function admission({ network, lookup, upstream }: WayOutOptions): Admit {
  const mayBeUnresolved = (host: Host): boolean => upstreamFor(upstream(), host) !== undefined;
  switch (network.mode) {
    case 'off':
      return async (host, port) =>
        fail(
          `${formatPlace(host, port)} cannot be reached: the network of this exec-server is off (--network)`,
        );
    case 'allow-list': {
      const gate = new Gate({ rules: network.hosts, lookup, mayBeUnresolved });
      return async (host, port) => {
        const admitted = await gate.admit(host, port);
        return admitted.ok ? admitted : fail(inFlags(admitted.error, host, port));
      };
    }
    case 'on': {
      const matcher = new HostMatcher(network.hosts);
      return async (host, port) => {
        const addresses = await addressesOf(host, lookup);
        const open = addresses.filter((address) => !matcher.isDenied(address, port));
        if (matcher.isDenied(host, port) || (addresses.length > 0 && open.length === 0)) {
          return fail(denied(host, port));
        }
        return open.length > 0 || mayBeUnresolved(host)
          ? ok({ addresses: open.map(({ name }) => name), isLocal: false })
          : fail(`${formatPlace(host, port)} does not resolve`);
      };
    }
  }
}

async function addressesOf(host: Host, lookup: Lookup): Promise<readonly Host[]> {
  if (host.address !== undefined) {
    return [host];
  }
  const found = await lookup(host.name).catch(() => []);
  return found.flatMap((name) => {
    const address = parseAddress(name);
    return address === undefined ? [] : [{ name, address }];
  });
}

/** Who starts a server has flags instead of settings. */
function inFlags({ reason, message }: Refusal, host: Host, port: number): string {
  const place = formatPlace(host, port);
  if (reason === 'allow-list') {
    return `${place} is not on the allow-list of this exec-server (--allow-host)`;
  }
  if (reason === 'local-address') {
    return `${place} is a local address, which only --allow-host with that address opens on this exec-server`;
  }
  return reason === 'deny-list' ? denied(host, port) : message;
}

function denied(host: Host, port: number): string {
  return `${formatPlace(host, port)} is denied on this exec-server (--deny-host)`;
}
