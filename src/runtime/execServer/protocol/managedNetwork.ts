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

/** Server to client: may this process reach that host? */
export const policyRequest = z.object({
  processId: z.string(),
  request: z.object({ protocol: z.string(), host: z.string(), port: z.int() }),
});
export const policyDecision = z.object({
  decision: z.object({ type: z.enum(['allow', 'deny', 'ask']), reason: z.string().nullish() }),
});
