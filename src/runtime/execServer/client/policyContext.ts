import { join } from 'node:path';
import type * as z from 'zod';
import type { Result } from '../../../base/result.ts';
import { fail, ok } from '../../../base/result.ts';
import type { EnvironmentPolicy } from '../../../sandbox/environment.ts';
import { inheritedHazards, isLoaderVariable, loaderNames } from '../../../sandbox/environment.ts';
import { isInside } from '../../../sandbox/paths.ts';
import type { FileRule } from '../../../sandbox/policy/fileRules.ts';
import { accessTo } from '../../../sandbox/policy/fileRules.ts';
import type { PolicyClause, SandboxPolicy } from '../../../sandbox/policy/policy.ts';
import { writableRoots } from '../../../sandbox/policy/policy.ts';
import { heldNames, protectedNames } from '../../../sandbox/policy/protectedNames.ts';
import { runFolder } from '../../../sandbox/policy/systemFolders.ts';
import type { SandboxError } from '../../../sandbox/sandboxManager.ts';
import { uriOf } from '../protocol/fileUri.ts';
import type { ParamsFor } from '../protocol/methods.ts';
import type { PermissionEntry, sandboxContext } from '../protocol/sandboxContext.ts';
import { inWordsOfPeers, literally } from './peerGlobs.ts';

/** A policy in the words that every server of the protocol knows. */
export interface PolicyContext {
  readonly sandbox: z.input<typeof sandboxContext>;
  /** Whole sentences: where the server gives less than the policy, and what it cannot be told. */
  readonly notes: readonly string[];
}

/**
 * The standard sandbox context for a policy, for servers that are not Cordon's own; its paths are of the machine that
 * enforces it. It never allows more than the policy's rules; what it could only say by allowing more is refused.
 */
export function contextOfPolicy(policy: SandboxPolicy): Result<PolicyContext, SandboxError> {
  const clause = inexpressible.find(({ applies }) => applies(policy));
  if (clause !== undefined) {
    return fail(refusal(clause));
  }
  const entries = [
    ...fileEntries(policy),
    ...policy.hidden.map(({ folder, glob }): PermissionEntry => {
      const place = folder === '/' ? '' : literally(folder);
      return { path: { type: 'glob_pattern', pattern: `${place}/${inWordsOfPeers(glob)}` }, access: 'deny' };
    }),
    ...notNamed(policy, writableRoots(policy).flatMap(metadataOf)),
  ];
  const root = uriOf(policy.root);
  return ok({
    sandbox: {
      permissions: {
        type: 'managed',
        file_system: { type: 'restricted', entries },
        network: policy.network === 'on' ? 'enabled' : 'restricted',
      },
      cwd: root,
      workspaceRoots: [root],
      policyContext: { cwd: root, workspaceRoots: [root] },
      windowsSandboxLevel: 'disabled',
    },
    notes: notes.filter(({ applies }) => applies(policy)).map(({ text }) => text),
  });
}

/** The environment clause as the peer's own: what Cordon always keeps from commands is excluded by name. */
export function environmentForPeers({
  exclude,
  set,
  includeOnly,
  ...policy
}: EnvironmentPolicy): NonNullable<ParamsFor<'process/start'>['envPolicy']> {
  return {
    ...policy,
    exclude: [...new Set([...exclude, ...inheritedHazards, ...loaderNames])],
    set: Object.fromEntries(Object.entries(set).filter(([name]) => !isLoaderVariable(name))),
    includeOnly: [...includeOnly],
  };
}

interface Inexpressible {
  readonly clause: PolicyClause;
  readonly applies: (policy: SandboxPolicy) => boolean;
  /** Half a sentence: why not. */
  readonly reason: string;
  /** Half a sentence: the nearest policy that can be said. */
  readonly nearest: string;
}

const inexpressible: readonly Inexpressible[] = [
  {
    clause: 'network',
    applies: ({ network }) => network === 'allow-list',
    reason: 'it knows the whole network or none of it, and no hosts',
    nearest: 'set cordon.sandbox.network to "off" or "on" for this root',
  },
  {
    clause: 'sockets',
    applies: ({ sockets }) => sockets.length > 0,
    reason: 'it cannot open one Unix socket of its machine and keep the others closed',
    nearest: 'leave cordon.sandbox.sockets empty for this root',
  },
  {
    clause: 'limits',
    // As with a launcher: a limit that nobody asked for gives way.
    applies: ({ limits, sources }) => Object.keys(limits).length > 0 && sources.limits !== 'default',
    reason: 'it has no limits of processes, memory, file size or computing time',
    nearest: 'take cordon.sandbox.limits out for this root',
  },
];

function refusal({ clause, reason, nearest }: Inexpressible): SandboxError {
  return {
    kind: 'clause-unenforceable',
    message: `The server of this environment is not Cordon's own and cannot enforce cordon.sandbox.${clause}: ${reason}.`,
    hint: `Use an environment with Cordon's own server, or ${nearest}.`,
  };
}

const notes: readonly {
  readonly applies: (policy: SandboxPolicy) => boolean;
  readonly text: string;
}[] = [
  {
    applies: ({ git, mode }) => git !== 'read-only' && mode === 'workspace-write',
    text: 'The .git folder stays read-only, also for commands that run git.',
  },
  {
    applies: ({ caches, mode }) => caches !== 'off' && mode === 'workspace-write',
    text: 'Caches of package managers are as the rules for files say: there are no private ones.',
  },
  {
    applies: ({ tmp }) => tmp === 'private',
    text: 'There is no /tmp: a private one cannot be had, and the one of the machine is hidden.',
  },
  {
    applies: ({ files }) => files.some(({ access }) => access === 'none'),
    text: 'Of the machine only the places of the system and what rules open can be seen, and nothing that is opened for reading below something hidden.',
  },
  {
    applies: ({ limits }) => Object.keys(limits).length > 0,
    text: 'The default limits of processes, memory and file size do not hold.',
  },
  {
    applies: ({ mode }) => mode === 'workspace-write',
    text: 'Hooks and configuration of repositories below a writable folder are not protected, only those at its top.',
  },
  {
    applies: () => true,
    text: `Unix sockets of the machine outside of ${runFolder} can be connected to where the rules show them.`,
  },
];

/**
 * Peers do not open for reading what lies in a folder that is denied, and do not even start when their own program does.
 * So where a policy hides something in a machine that can be read otherwise, the context names what can be seen.
 */
function fileEntries(policy: SandboxPolicy): readonly PermissionEntry[] {
  const implied = [...temporaryRules(policy), ...runRules(policy)];
  const rules = [...policy.files, ...implied.filter((rule) => !isNamed(policy, rule.path))];
  const isListed = accessTo(policy, '/') === 'read' && rules.some((rule) => hidesOfMachine(rule, rules));
  if (!isListed) {
    return rules.map(entryOf);
  }
  const system = systemPlaces
    .filter((path) => !isNamed(policy, path) && accessTo(policy, path) === 'read')
    .map((path) => ({ path, access: 'read' }) as const);
  const hasMinimal = minimalPlaces.every((path) => accessTo(policy, path) === 'read');
  const seen = [...rules.filter(({ path, access }) => path !== '/' && access !== 'none'), ...system];
  const denied = rules.filter(
    ({ path, access }) => access === 'none' && seen.some((rule) => isInside(path, rule.path)),
  );
  return [...(hasMinimal ? [minimal] : []), ...[...seen, ...denied].map(entryOf)];
}

interface Rule {
  readonly path: string;
  readonly access: FileRule['access'];
}

function hidesOfMachine({ path, access }: Rule, rules: readonly Rule[]): boolean {
  return (
    access === 'none' &&
    !rules.some((rule) => rule.path !== '/' && rule.access !== 'none' && isInside(path, rule.path))
  );
}

/** What the place `minimal` has on servers: programs, libraries and settings of the system. */
const minimalPlaces = [
  '/bin',
  '/sbin',
  '/lib',
  '/lib64',
  '/usr',
  '/etc',
  '/nix/store',
  '/run/current-system',
];

/** The rest of a machine that belongs to nobody in particular. */
const systemPlaces = [
  ...minimalPlaces.slice(0, 6),
  '/lib32',
  '/libx32',
  '/nix',
  '/gnu',
  '/opt',
  '/srv',
  '/snap',
  '/var/lib',
];

const minimal: PermissionEntry = { path: { type: 'special', value: { kind: 'minimal' } }, access: 'read' };

function entryOf({ path, access }: Rule): PermissionEntry {
  return {
    path: path === '/' ? { type: 'special', value: { kind: 'root' } } : { type: 'path', path: uriOf(path) },
    access: access === 'none' ? 'deny' : access,
  };
}

function isNamed({ files }: SandboxPolicy, path: string): boolean {
  return files.some((rule) => rule.path === path);
}

interface Named {
  readonly path: string;
  readonly entry: PermissionEntry;
}

/** What the policy implies, where no rule of its own says something else about that very path. */
function notNamed(policy: SandboxPolicy, implied: readonly Named[]): readonly PermissionEntry[] {
  return implied.filter(({ path }) => !isNamed(policy, path)).map(({ entry }) => entry);
}

function named(path: string, access: FileRule['access'], skipsMissing = false): Named {
  const entry = entryOf({ path, access });
  return { path, entry: skipsMissing ? { ...entry, missing_path_behavior: 'skip' } : entry };
}

/** A private `/tmp` has nothing of the machine's in it. */
function temporaryRules({ tmp, mode }: SandboxPolicy): readonly Rule[] {
  const shared = mode === 'workspace-write' ? 'write' : 'read';
  return ['/tmp', '/var/tmp'].map((path) => ({ path, access: tmp === 'private' ? 'none' : shared }));
}

/** The sockets of the machine's services, without the files by which names are looked up. */
function runRules({ network }: SandboxPolicy): readonly Rule[] {
  const resolvers = ['stub-resolv.conf', 'resolv.conf'].map((name) =>
    join(runFolder, 'systemd/resolve', name),
  );
  return [
    { path: runFolder, access: 'none' },
    ...(network === 'on' ? resolvers.map((path) => ({ path, access: 'read' }) as const) : []),
  ];
}

/** Those that must not come to be are named although they may be missing; the others count where they are. */
function metadataOf(root: string): readonly Named[] {
  return protectedNames.map((name) => named(join(root, name), 'read', !heldNames.includes(name)));
}
