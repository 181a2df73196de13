import type { Socket } from 'node:net';
import type { Result } from '../../base/result.ts';
import type { Host } from './host.ts';
import type { Refusal } from './refusal.ts';

/** What both protocols of the proxy ask of what stands behind them. */
export interface Front {
  /** Decides, connects and notes the outcome. */
  open(host: Host, port: number, asked: Asked): Promise<Result<Connection, Refusal>>;
  /** Whether a TLS handshake with that server name may go through a connection to the host; notes a refusal. */
  admitsServerName(serverName: string, host: Host, port: number): boolean;
  /** Notes a request that never came as far as a decision. */
  noteMalformed(what: string): void;
}

/** How a host is asked for. */
export interface Asked {
  /** `http`: a request with a whole address. The others are tunnels. */
  readonly protocol: 'http' | 'connect' | 'socks';
  /** As it was written; SOCKS has none. */
  readonly method?: string;
  /** What begins as a request and becomes a tunnel. */
  readonly isUpgrade?: boolean;
}

/** `forward`: an HTTP request that an upstream proxy can be given as it is. `tunnel`: bytes. */
export type Purpose = 'forward' | 'tunnel';

export interface Connection {
  readonly socket: Socket;
  /** Present when the socket leads to an upstream proxy, which wants the whole address and, maybe, credentials. */
  readonly upstream?: { readonly authorization?: string };
}
