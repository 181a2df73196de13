import { defaultEnvironmentPolicy } from '../../src/sandbox/environment.ts';
import { noHosts } from '../../src/sandbox/policy/hostRules.ts';
import { policyClauses } from '../../src/sandbox/policy/policy.ts';
import type { PolicyClause, PolicySource, SandboxPolicy } from '../../src/sandbox/policy/policy.ts';

/** A policy in workspace-write with nothing of a machine in it: all is readable, the roots are writable. */
export function policyOf(
  root: string,
  {
    writableRoots = [root],
    ...changes
  }: Partial<SandboxPolicy> & { readonly writableRoots?: readonly string[] } = {},
): SandboxPolicy {
  return {
    root,
    mode: 'workspace-write',
    files: [
      ...(writableRoots.includes('/') ? [] : [{ path: '/', access: 'read', source: 'default' } as const]),
      ...writableRoots.map((path) => ({ path, access: 'write', source: 'default' }) as const),
    ],
    hidden: [],
    git: 'read-only',
    caches: 'off',
    tmp: 'private',
    network: 'off',
    hosts: noHosts,
    sockets: [],
    environment: defaultEnvironmentPolicy,
    limits: {},
    sources: allFrom('default'),
    ...changes,
  };
}

export function allFrom(source: PolicySource): Record<PolicyClause, PolicySource> {
  return Object.fromEntries(policyClauses.map((clause) => [clause, source])) as Record<
    PolicyClause,
    PolicySource
  >;
}
