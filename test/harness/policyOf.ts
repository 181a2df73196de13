import { defaultEnvironmentPolicy } from '../../src/sandbox/environment.ts';
import { noHosts } from '../../src/sandbox/policy/hostRules.ts';
import type { PolicyMachine } from '../../src/sandbox/policy/input.ts';
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
      ...(writableRoots.includes('/')
        ? []
        : [{ path: '/', access: 'read', source: 'default', writtenAs: ':root' } as const]),
      ...writableRoots.map(
        (path) =>
          ({
            path,
            access: 'write',
            source: 'default',
            ...(path === root && { writtenAs: ':workspace' }),
          }) as const,
      ),
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

/** A machine where everything exists, nothing is a link and every folder is empty. */
export const bareMachine: PolicyMachine = {
  homeDir: '/home/ann',
  searchPath: '/usr/bin',
  memoryMiB: 10_000,
  canonicalize: (path) => path,
  listFolder: () => [],
  repositoryAround: () => undefined,
};

export function allFrom(source: PolicySource): Record<PolicyClause, PolicySource> {
  return Object.fromEntries(policyClauses.map((clause) => [clause, source])) as Record<
    PolicyClause,
    PolicySource
  >;
}
