import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import type { Own } from './dial.ts';
import { dial, dialUpstream, openTunnel } from './dial.ts';
import type { Connection, Purpose } from './front.ts';
import type { Passage } from './gate.ts';
import type { Host } from './host.ts';
import { formatPlace } from './host.ts';
import type { Refusal } from './refusal.ts';
import { unreachable } from './refusal.ts';
import type { Upstream } from './upstream.ts';
import { isExcepted, parseUpstream } from './upstream.ts';

export interface ConnectionRequest {
  readonly host: Host;
  readonly port: number;
  readonly purpose: Purpose;
  /** The proxy that the machine itself is behind, if any. */
  readonly upstream: Upstream | undefined;
  readonly own: Own;
}

/** Connects to where a gate lets pass: directly, or through the machine's own proxy, which is for public hosts only. */
export async function openConnection(
  { addresses, isLocal }: Passage,
  { host, port, purpose, upstream, own }: ConnectionRequest,
): Promise<Result<Connection, Refusal>> {
  const way = isLocal ? undefined : upstreamFor(upstream, host);
  try {
    if (way === undefined) {
      return ok({ socket: await dial(addresses, port, own) });
    }
    const proxy = parseUpstream(way);
    if (proxy === undefined) {
      return fail(unreachable(host, port, 'the proxy of this machine is not a plain HTTP one'));
    }
    const socket = await dialUpstream(proxy, own);
    return ok(
      purpose === 'forward'
        ? { socket, upstream: proxy }
        : { socket: await openTunnel(socket, proxy, formatPlace(host, port)) },
    );
  } catch (error) {
    return fail(unreachable(host, port, (error as NodeJS.ErrnoException).code ?? String(error)));
  }
}

/** The proxy over which a host is reached; undefined when it is reached directly. */
export function upstreamFor(upstream: Upstream | undefined, host: Host): Upstream | undefined {
  return upstream === undefined || isExcepted(upstream, host) ? undefined : upstream;
}
