import * as z from 'zod';
import { parseHost } from '../network/host.ts';
import { HostMatcher } from '../network/matchHost.ts';
import { accesses, accessTo } from './fileRules.ts';
import { parseHostPattern } from './hostRules.ts';
import { locate } from './files/locate.ts';
import type { PolicyMachine, UncheckedSettings } from './input.ts';
import type { SandboxPolicy } from './policy.ts';
import { isUnsandboxed } from './policy.ts';

/** What a person can open for longer than one command. Paths are canonical. */
export const lastingWidenings = [
  z.object({ kind: z.literal('path'), path: z.string(), access: z.enum(['read', 'write']) }),
  /** A host as in `cordon.sandbox.hosts`: a name or address, with a port or for all of them. */
  z.object({ kind: z.literal('host'), host: z.string() }),
  z.object({ kind: z.literal('socket'), path: z.string() }),
  /** Every host, this machine's own services included. */
  z.object({ kind: z.literal('network') }),
  /** Writing in a root that is read-only. */
  z.object({ kind: z.literal('mode') }),
] as const;

/** One thing more that commands of a root may do, as a person grants it. */
export const wideningSchema = z.discriminatedUnion('kind', [
  ...lastingWidenings,
  z.object({ kind: z.literal('unsandboxed') }),
]);
export type Widening = Readonly<z.infer<typeof wideningSchema>>;

/**
 * The settings of a person for a root with widenings on top. They stay settings of the person: what narrows a policy
 * narrows them, too. `policy` is what holds without them. What has become a link since it was granted opens nothing.
 */
export function widenSettings(
  settings: UncheckedSettings,
  widenings: readonly Widening[],
  policy: SandboxPolicy,
  machine: Pick<PolicyMachine, 'canonicalize'>,
): UncheckedSettings {
  const inForce = widenings.filter((widening) => !('path' in widening) || isOpenable(widening.path, machine));
  return inForce.reduce<UncheckedSettings>((widened, widening) => {
    switch (widening.kind) {
      case 'path': {
        const files = asRecord(widened.files);
        const isWritable = files[widening.path] === 'write';
        return { ...widened, files: { ...files, [widening.path]: isWritable ? 'write' : widening.access } };
      }
      case 'host':
        return {
          ...widened,
          hosts: { ...asRecord(widened.hosts), [widening.host]: 'allow' },
          ...(policy.network === 'off' && widened.network !== 'on' && { network: 'allow-list' }),
        };
      case 'socket':
        return { ...widened, sockets: [...(asList(widened.sockets) ?? policy.sockets), widening.path] };
      case 'network':
        return { ...widened, network: 'on' };
      case 'mode':
        return { ...widened, mode: 'workspace-write' };
      case 'unsandboxed':
        return { ...widened, mode: 'danger-full-access' };
    }
  }, settings);
}

/** Whether a path can be opened by its name: nothing leads elsewhere from it, and it is no glob. */
export function isOpenable(path: string, machine: Pick<PolicyMachine, 'canonicalize'>): boolean {
  return !/[*?{]/.test(path) && locate(path, machine).path === path;
}

/** Whether a policy already gives what a widening would bring. */
export function isWideEnough(policy: SandboxPolicy, widening: Widening): boolean {
  if (isUnsandboxed(policy)) {
    return true;
  }
  switch (widening.kind) {
    case 'path':
      return accesses.indexOf(accessTo(policy, widening.path)) >= accesses.indexOf(widening.access);
    case 'host':
      return policy.network === 'on' || (policy.network === 'allow-list' && isAllowed(policy, widening.host));
    case 'socket':
      return policy.sockets.includes(widening.path);
    case 'network':
      return policy.network === 'on';
    case 'mode':
      return policy.mode === 'workspace-write';
    case 'unsandboxed':
      return false;
  }
}

/** Of a host without a port, whether every port is open. */
function isAllowed({ hosts }: SandboxPolicy, text: string): boolean {
  const pattern = parseHostPattern(text);
  const host = pattern.ok ? parseHost(pattern.value.host) : undefined;
  if (!pattern.ok || host === undefined) {
    return false;
  }
  const { port } = pattern.value;
  const matcher = new HostMatcher(
    port === undefined ? { ...hosts, allow: hosts.allow.filter((rule) => rule.port === undefined) } : hosts,
  );
  const anyPort = port ?? 443;
  // A local address has to be named, so a wildcard is not enough for one.
  const isListed =
    host.address === undefined ? matcher.isListed(host, anyPort) : matcher.isNamed(host, anyPort);
  return isListed && !matcher.isDenied(host, anyPort);
}

/** Why commands of a root may not run without a sandbox, whoever says so; undefined when nothing forbids it. */
export function whyConfined({ sources, files, hidden }: SandboxPolicy): string | undefined {
  if (Object.values(sources).includes('untrusted')) {
    return 'the workspace is not trusted';
  }
  if (Object.values(sources).includes('managed')) {
    return "the machine's administrator narrows what commands may do";
  }
  const denied = files.find(({ access, source }) => access === 'none' && source !== 'default');
  const glob = hidden.find(({ source }) => source !== 'default');
  const name = denied?.writtenAs ?? denied?.path ?? glob?.glob;
  return name === undefined
    ? undefined
    : `cordon.sandbox.files forbids reading ${name}, and without a sandbox nothing would`;
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function asList(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}
