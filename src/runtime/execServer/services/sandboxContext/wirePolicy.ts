import type { Result } from '../../../../base/result.ts';
import { fail, ok } from '../../../../base/result.ts';
import picomatch from 'picomatch';
import { HostMatcher } from '../../../../sandbox/network/matchHost.ts';
import { locate } from '../../../../sandbox/policy/files/locate.ts';
import type { HostPattern } from '../../../../sandbox/policy/hostRules.ts';
import type { PolicyMachine } from '../../../../sandbox/policy/input.ts';
import type { PolicyClause, SandboxPolicy } from '../../../../sandbox/policy/policy.ts';
import type { WirePolicy } from '../../protocol/cordon.ts';
import { errorCodes, RpcError } from '../../protocol/errors.ts';
import { pathOf, uriOf } from '../../protocol/fileUri.ts';

/** A policy as it goes over the wire: the same value, with URIs for paths. */
export function toWire(policy: SandboxPolicy): WirePolicy {
  return {
    root: uriOf(policy.root),
    mode: policy.mode,
    files: policy.files.map((rule) => ({ ...rule, path: uriOf(rule.path) })),
    hidden: policy.hidden.map((glob) => ({ ...glob, folder: uriOf(glob.folder) })),
    git: policy.git,
    caches: policy.caches,
    tmp: policy.tmp,
    network: policy.network,
    hosts: { allow: [...policy.hosts.allow], deny: [...policy.hosts.deny] },
    sockets: policy.sockets.map(uriOf),
    environment: {
      ...policy.environment,
      exclude: [...policy.environment.exclude],
      set: { ...policy.environment.set },
      includeOnly: [...policy.environment.includeOnly],
    },
    limits: { ...policy.limits },
    sources: { ...policy.sources },
  };
}

/**
 * The policy that arrived, checked against this machine. A policy is resolved where it is enforced, so every path in it
 * is canonical here: one that leads over a link by now would mean something else than its rules say, and is refused
 * like everything that contradicts itself.
 */
export function fromWire(
  wire: WirePolicy,
  machine: Pick<PolicyMachine, 'canonicalize'>,
): Result<SandboxPolicy, RpcError> {
  try {
    const policy = policyOf(wire);
    checkPaths(policy, machine);
    checkClauses(policy);
    return ok(policy);
  } catch (error) {
    if (error instanceof RpcError) {
      return fail(error);
    }
    throw error;
  }
}

function policyOf(wire: WirePolicy): SandboxPolicy {
  return {
    ...wire,
    root: pathOf(wire.root),
    files: wire.files.map(({ path, writtenAs, ...rule }) => ({
      ...rule,
      path: pathOf(path),
      ...(writtenAs !== undefined && { writtenAs }),
    })),
    hidden: wire.hidden.map((glob) => ({ ...glob, folder: pathOf(glob.folder) })),
    hosts: { allow: wire.hosts.allow.map(patternOf), deny: wire.hosts.deny.map(patternOf) },
    sockets: wire.sockets.map(pathOf),
    limits: Object.fromEntries(Object.entries(wire.limits).filter(([, limit]) => limit !== undefined)),
  };
}

function patternOf({ host, port }: WirePolicy['hosts']['allow'][number]): HostPattern {
  return port === undefined ? { host } : { host, port };
}

function checkPaths(policy: SandboxPolicy, machine: Pick<PolicyMachine, 'canonicalize'>): void {
  const check = (clause: PolicyClause | 'root', path: string): void => {
    const { path: real } = locate(path, machine);
    if (real !== path) {
      throw refusal(
        clause,
        `${path} is not canonical on this machine: it leads to ${real}`,
        'Resolve the policy again',
      );
    }
  };
  check('root', policy.root);
  policy.files.forEach(({ path }) => check('files', path));
  policy.hidden.forEach(({ folder }) => check('files', folder));
  policy.sockets.forEach((path) => check('sockets', path));
}

function checkClauses({ mode, files, hidden, network, hosts, limits }: SandboxPolicy): void {
  const paths = files.map(({ path }) => path);
  const twice = paths.find((path, index) => paths.indexOf(path) !== index);
  if (twice !== undefined) {
    throw refusal('files', `${twice} has more than one rule`, 'Keep the one that is meant');
  }
  const written = files.find(({ access }) => access === 'write');
  if (mode === 'read-only' && written !== undefined) {
    throw refusal('mode', `it is read-only, but ${written.path} may be written`, 'Make it one or the other');
  }
  if (mode === 'danger-full-access' && network !== 'on') {
    throw refusal('mode', `without a sandbox the network cannot be "${network}"`, 'Use workspace-write');
  }
  for (const { glob } of hidden) {
    if (glob === '' || glob.startsWith('/') || glob.split('/').includes('..') || !isGlob(glob)) {
      throw refusal('files', `"${glob}" is no glob below a folder`, 'Correct it');
    }
  }
  for (const pattern of [...hosts.allow, ...hosts.deny]) {
    const { host, port } = pattern;
    if (!isHostPattern(pattern) || (port !== undefined && (port < 1 || port > 65_535))) {
      throw refusal('hosts', `${JSON.stringify({ host, port })} is no host`, 'Correct it');
    }
  }
  const limit = Object.entries(limits).find(([, value]) => typeof value === 'number' && value < 1);
  if (limit !== undefined) {
    throw refusal('limits', `${limit[0]} is ${String(limit[1])}`, 'Give a positive number, or leave it out');
  }
}

function isGlob(glob: string): boolean {
  try {
    picomatch.makeRe(glob, { strictBrackets: true });
    return true;
  } catch {
    return false;
  }
}

function isHostPattern(pattern: HostPattern): boolean {
  try {
    return new HostMatcher({ allow: [pattern], deny: [] }) instanceof HostMatcher;
  } catch {
    return false;
  }
}

function refusal(clause: PolicyClause | 'root', problem: string, cure: string): RpcError {
  return new RpcError(errorCodes.invalidParams, `cordon.policy.${clause}: ${problem}. ${cure}.`);
}
