import * as z from 'zod';

/** What stays reachable on the executing machine when the network is managed. */
export const managedNetwork = z.object({
  loopbackPorts: z.array(z.int().min(1).max(65_535)).default([]),
  allowLocalBinding: z.boolean().default(false),
  allowUnixSockets: z.array(z.string()).default([]),
  dangerouslyAllowAllUnixSockets: z.boolean().default(false),
  transparentTcp: z.boolean().default(false),
});
export type ManagedNetwork = z.infer<typeof managedNetwork>;

/** A filtering proxy that the server runs for one process. */
export const networkProxy = z.object({
  proxy: z.object({
    enabled: z.boolean(),
    enableSocks5: z.boolean(),
    enableSocks5Udp: z.boolean(),
    allowUpstreamProxy: z.boolean(),
    dangerouslyAllowAllUnixSockets: z.boolean(),
    mode: z.enum(['limited', 'full']),
    allowLocalBinding: z.boolean(),
    domains: z.record(z.string(), z.enum(['none', 'allow', 'deny'])).nullish(),
    unixSockets: z.record(z.string(), z.enum(['allow', 'deny'])).nullish(),
    reviewDomains: z.array(z.string()).nullish(),
    transparentTcp: z.boolean().nullish(),
  }),
  auditMetadata: z.unknown().optional(),
  executionId: z.string().nullish(),
  policyDecisionTimeoutMs: z.int().min(0).nullish(),
  environmentId: z.string().nullish(),
});
export type NetworkProxySpec = z.infer<typeof networkProxy>;

/** A proxied request in plain HTTP, by CONNECT, or by one of the kinds of SOCKS5. */
export const networkProtocol = z.enum(['http', 'https_connect', 'socks5_tcp', 'socks5_udp']);

/** Server to client: may this process reach that host? */
export const policyRequest = z.object({
  processId: z.string(),
  request: z.object({ protocol: networkProtocol, host: z.string(), port: z.int() }),
});
/** `ask` is a denial as well: whoever wants to ask somebody does it before the answer. */
export const policyAnswer = z.object({
  decision: z.object({
    type: z.enum(['allow', 'deny', 'ask']),
    reason: z
      .string()
      .max(1024)
      .regex(/^[^\u0000-\u001f\u007f]*$/)
      .nullish(),
  }),
});

/** Server to client: what became of a request of a process with a network proxy. */
export const policyDecisionEvent = z.object({
  processId: z.string(),
  /** ISO 8601, in UTC. */
  timestamp: z.string(),
  /** `non_domain`: the host did not matter. */
  scope: z.enum(['domain', 'non_domain']),
  decision: z.enum(['allow', 'deny', 'ask']),
  /** `decider`: the client's own answer. */
  source: z.enum(['baseline_policy', 'mode_guard', 'proxy_state', 'decider']),
  /** The client's own words, or one of a few of the protocol's. */
  reason: z.string(),
  protocol: networkProtocol,
  host: z.string(),
  port: z.int(),
  method: z.string().nullish(),
  client: z.string().nullish(),
  /** The client let through what no rule allows. */
  policyOverride: z.boolean().default(false),
});
export type PolicyDecisionEvent = z.infer<typeof policyDecisionEvent>;
