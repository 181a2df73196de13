import { noHosts } from '../../../../../sandbox/policy/hostRules.ts';
import type { SandboxPolicy } from '../../../../../sandbox/policy/policy.ts';

/** The part of a policy that file calls depend on: policies that differ in nothing else share a worker. */
export function workerPolicy(policy: SandboxPolicy): SandboxPolicy {
  return { ...policy, git: 'read-only', network: 'off', hosts: noHosts, sockets: [], limits: {} };
}
