import { dirname } from 'node:path';
import type { Denial } from './denial.ts';
import { parseHost } from '../network/host.ts';
import { directHosts } from '../network/proxyVariables.ts';
import { depthOf, isInside } from '../paths.ts';
import { parseHostPattern } from '../policy/hostRules.ts';
import type { PolicyMachine } from '../policy/input.ts';
import type { SandboxPolicy } from '../policy/policy.ts';
import type { Widening } from '../policy/widening.ts';
import { isWideEnough } from '../policy/widening.ts';

/**
 * What would have let a denied action through, narrowest first; nothing for what no grant opens (limits, protected
 * metadata, a path that the policy opens already).
 */
export function wideningsFor(
  denial: Denial,
  policy: SandboxPolicy,
  machine: Pick<PolicyMachine, 'canonicalize' | 'homeDir'>,
): readonly Widening[] {
  return candidates(denial, policy, machine).filter((widening) => !isWideEnough(policy, widening));
}

function candidates(
  { certainty, clause, host, path, access, socket }: Denial,
  policy: SandboxPolicy,
  machine: Pick<PolicyMachine, 'canonicalize' | 'homeDir'>,
): readonly Widening[] {
  if (host !== undefined) {
    // The proxy, which could let it through, has only seen what it refused itself.
    const isDirect = certainty === 'likely' && directHosts.includes(nameOf(host) ?? '');
    return [isDirect ? { kind: 'network' } : { kind: 'host', host }];
  }
  if (socket !== undefined) {
    return [{ kind: 'socket', path: socket }];
  }
  if (clause === 'network' || clause === 'mode') {
    return [{ kind: clause }];
  }
  if (path?.startsWith('/') !== true || access === undefined) {
    return [];
  }
  const isThere = machine.canonicalize(path) !== undefined;
  const target = isThere ? path : makingFolder(path, policy, machine);
  return target === undefined ? [] : [{ kind: 'path', path: target, access }];
}

/** Without a port. */
function nameOf(text: string): string | undefined {
  const pattern = parseHostPattern(text);
  return pattern.ok ? parseHost(pattern.value.host)?.name : undefined;
}

/** The folder in which a missing path would be made, unless opening it would open far more than was asked for. */
function makingFolder(
  path: string,
  { root }: SandboxPolicy,
  { canonicalize, homeDir }: Pick<PolicyMachine, 'canonicalize' | 'homeDir'>,
): string | undefined {
  let folder = dirname(path);
  while (folder !== '/' && canonicalize(folder) === undefined) {
    folder = dirname(folder);
  }
  const isWide = depthOf(folder) < 2 || isInside(root, folder) || isInside(homeDir, folder);
  return isWide ? undefined : folder;
}
