import type { FileRules } from '../../../../sandbox/policy/fileRules.ts';
import { accessTo } from '../../../../sandbox/policy/fileRules.ts';
import { locate } from '../../../../sandbox/policy/files/locate.ts';
import { noHosts } from '../../../../sandbox/policy/hostRules.ts';
import { policyClauses } from '../../../../sandbox/policy/policy.ts';
import type { PolicyClause, PolicySource, SandboxPolicy } from '../../../../sandbox/policy/policy.ts';
import type { PermissionEntry, SandboxContext } from '../../protocol/sandboxContext.ts';
import type { ContextMachine } from './contextMachine.ts';
import { rulesOf } from './contextFiles.ts';
import type { ContextPlaces } from './entryTargets.ts';
import { invalid, placesOf } from './entryTargets.ts';

/** Who asks: a file call has no folder of its own that relative words could mean. */
export type Asker =
  { readonly kind: 'process'; /** Absolute. */ readonly cwd: string } | { readonly kind: 'files' };

type Permissions = SandboxContext['permissions'];
type Managed = Extract<Permissions, { readonly type: 'managed' }>;

/**
 * The policy that a context of the protocol means on this machine, resolved here and now: never more than it says. What
 * a context has no words for is not given: caches, hosts, sockets of the machine, and a writable `/tmp` only where an
 * entry says so. Throws an `RpcError` for what is inconsistent or cannot be kept.
 */
export async function policyOfContext(
  context: SandboxContext,
  asker: Asker,
  machine: ContextMachine,
): Promise<SandboxPolicy> {
  const places = placesOf(context, asker.kind === 'process' ? asker.cwd : undefined, machine);
  const { permissions } = context;
  if (permissions.type !== 'managed' || confinesNothing(permissions)) {
    return unconfinedPolicy(rootOf(places, machine));
  }
  if (permissions.file_system.type === 'unrestricted') {
    return policyWith({ files: [anything], hidden: [] }, permissions, places, machine);
  }
  if (context.useLegacyLandlock) {
    throw invalid('useLegacyLandlock cannot be combined with restricted files: leave it out');
  }
  const { entries, glob_scan_max_depth: maxDepth } = permissions.file_system;
  if (asker.kind === 'files' && entries.some((entry) => isUnclear(entry, places))) {
    throw invalid('its entries are relative: a file call needs cwd or workspaceRoots in the sandbox context');
  }
  return policyWith(
    await rulesOf(entries, maxDepth ?? undefined, places, machine),
    permissions,
    places,
    machine,
  );
}

/** No sandbox at all, because the caller says so. */
export function unconfinedPolicy(root: string): SandboxPolicy {
  return {
    ...bare,
    root,
    mode: 'danger-full-access',
    files: [anything],
    hidden: [],
    network: 'on',
  };
}

const anything = { path: '/', access: 'write', source: 'request', writtenAs: 'root' } as const;

function confinesNothing({ file_system: files, network }: Managed): boolean {
  return files.type === 'unrestricted' && network === 'enabled';
}

function isUnclear({ path }: PermissionEntry, { cwd, roots }: ContextPlaces): boolean {
  return (
    cwd === undefined &&
    path.type === 'special' &&
    (path.value.kind === 'current_working_directory' ||
      (path.value.kind === 'project_roots' && roots.length === 0))
  );
}

function policyWith(
  { files, hidden }: FileRules,
  { network }: Managed,
  places: ContextPlaces,
  machine: ContextMachine,
): SandboxPolicy {
  // The launcher lets commands write in these folders unless a rule says otherwise.
  const temporary = machine.sharedFolders
    .filter((path) => !files.some((rule) => rule.path === path))
    .map((path) => ({ path, access: accessTo({ files, hidden }, path), source: 'request' }) as const)
    .filter(({ access }) => access !== 'write');
  return {
    ...bare,
    root: rootOf(places, machine),
    mode: files.some(({ access }) => access === 'write') ? 'workspace-write' : 'read-only',
    files: [...files, ...temporary],
    hidden,
    network: network === 'enabled' ? 'on' : 'off',
  };
}

/** By what the policy is called; without a workspace it is about the machine. */
function rootOf({ roots: [root] }: ContextPlaces, machine: ContextMachine): string {
  return root === undefined ? '/' : locate(root, machine).path;
}

const bare = {
  git: 'read-only',
  caches: 'off',
  // By its rules: `private` would give a command a folder to write in that no entry mentions.
  tmp: 'shared',
  hosts: noHosts,
  sockets: [],
  environment: { inherit: 'all', ignoreDefaultExcludes: true, exclude: [], set: {}, includeOnly: [] },
  limits: {},
  sources: Object.fromEntries(policyClauses.map((clause) => [clause, 'request'])) as Record<
    PolicyClause,
    PolicySource
  >,
} as const satisfies Partial<SandboxPolicy>;
