import { parseHostPattern } from './hostRules.ts';
import type { PolicyClause, PolicySource, SandboxPolicy } from './policy.ts';
import type { Widening } from './widening.ts';

const narrowing: ReadonlySet<PolicySource> = new Set(['managed', 'workspace', 'untrusted']);

const clauseOf: Readonly<Record<Widening['kind'], PolicyClause>> = {
  path: 'files',
  host: 'network',
  socket: 'sockets',
  network: 'network',
  mode: 'mode',
  unsandboxed: 'mode',
};

/**
 * What a policy will most likely be with widenings on top, without the machine that resolves it: good enough to offer
 * them to a person, and for nothing else. A clause that somebody narrows stays as it is.
 */
export function expectedPolicy(policy: SandboxPolicy, widenings: readonly Widening[]): SandboxPolicy {
  return widenings.reduce(
    (widened, widening) =>
      narrowing.has(policy.sources[clauseOf[widening.kind]]) ? widened : withOne(widened, widening),
    policy,
  );
}

function withOne(policy: SandboxPolicy, widening: Widening): SandboxPolicy {
  const { files, hosts, sockets, root } = policy;
  switch (widening.kind) {
    case 'path':
      return { ...policy, files: withRule(files, widening.path, widening.access) };
    case 'host': {
      const pattern = parseHostPattern(widening.host);
      const allow = pattern.ok ? [...hosts.allow, pattern.value] : hosts.allow;
      const network = policy.network === 'off' ? 'allow-list' : policy.network;
      return { ...policy, network, hosts: { ...hosts, allow } };
    }
    case 'socket':
      return { ...policy, sockets: [...sockets, widening.path] };
    case 'network':
      return { ...policy, network: 'on' };
    case 'mode':
      return { ...policy, mode: 'workspace-write', files: withRule(files, root, 'write') };
    case 'unsandboxed':
      return { ...policy, mode: 'danger-full-access', network: 'on', tmp: 'shared' };
  }
}

function withRule(
  files: SandboxPolicy['files'],
  path: string,
  access: 'read' | 'write',
): SandboxPolicy['files'] {
  return [...files.filter((rule) => rule.path !== path), { path, access, source: 'grant' }];
}
