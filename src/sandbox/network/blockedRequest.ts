/**
 * `allow-list`: no rule allows the host. `deny-list`: a rule denies it. `local-address`: it is this machine, its cloud's
 * services, or in the network around it, and not named by a rule. `server-name`: inside an allowed connection,
 * another host was asked for. `method`: the command may only read, and asked for more.
 */
export type BlockReason = 'allow-list' | 'deny-list' | 'local-address' | 'server-name' | 'method';

/** What a command asked the network for and did not get. */
export interface BlockedRequest {
  readonly host: string;
  readonly port: number;
  readonly reason: BlockReason;
  /** Milliseconds since the epoch, of the first time. */
  readonly time: number;
}
