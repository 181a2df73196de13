import type { EnvironmentPolicy } from '../environment.ts';
import type { FileRule, HiddenGlob } from './fileRules.ts';
import type { HostRules } from './hostRules.ts';
import type { ResourceLimits } from './limits.ts';

/** What a command may write, as one word: the three modes of the reference. Strictest first. */
export const sandboxModes = ['read-only', 'workspace-write', 'danger-full-access'] as const;
export type SandboxMode = (typeof sandboxModes)[number];

/**
 * `off`: a network namespace of its own, with nothing but its own loopback. `allow-list`: the same, and a proxy that
 * lets through what {@link SandboxPolicy.hosts} allows. `on`: the machine's network. Strictest first.
 */
export const networkModes = ['off', 'allow-list', 'on'] as const;
export type NetworkMode = (typeof networkModes)[number];

/** `private`: an empty `/tmp` per command, in memory. `shared`: the machine's own, writable in workspace-write. */
export const tmpModes = ['private', 'shared'] as const;
export type TmpMode = (typeof tmpModes)[number];

/**
 * Who may write in the `.git` of a writable root. Hooks, configuration and whatever else git executes stay read-only
 * in every mode. `commands`: command lines that run git. Strictest first.
 */
export const gitModes = ['read-only', 'commands', 'writable'] as const;
export type GitMode = (typeof gitModes)[number];

/**
 * Where package managers keep what they download. `off`: what the rules for files say. `private`: folders that only
 * the commands of this root see and write. `shared`: the person's own. Strictest first.
 */
export const cacheModes = ['off', 'private', 'shared'] as const;
export type CacheMode = (typeof cacheModes)[number];

/** The clauses of a policy that a person can see and steer. */
export const policyClauses = [
  'mode',
  'files',
  'writableRoots',
  'git',
  'caches',
  'tmp',
  'network',
  'hosts',
  'sockets',
  'environment',
  'limits',
] as const;
export type PolicyClause = (typeof policyClauses)[number];

/** Who decided a clause. `managed` (the machine's administrator) and `workspace` can only have narrowed it. */
export type PolicySource =
  'default' | 'user' | 'profile' | 'grant' | 'managed' | 'workspace' | 'untrusted' | 'request';

/**
 * What a command may read, write and reach in one root: a value, resolved once, immutable.
 * Paths are absolute and canonical (no symbolic link in them).
 */
export interface SandboxPolicy {
  readonly root: string;
  readonly mode: SandboxMode;
  /** One rule per path, `/` and the root among them; the deepest that contains a path decides. */
  readonly files: readonly FileRule[];
  /** Names that must not be read, wherever they are below a folder. */
  readonly hidden: readonly HiddenGlob[];
  readonly git: GitMode;
  readonly caches: CacheMode;
  readonly tmp: TmpMode;
  readonly network: NetworkMode;
  /** Counts with `allow-list` only. */
  readonly hosts: HostRules;
  /** Unix sockets of the machine that commands may connect to. */
  readonly sockets: readonly string[];
  readonly environment: EnvironmentPolicy;
  readonly limits: ResourceLimits;
  readonly sources: Readonly<Record<PolicyClause, PolicySource>>;
}

/** True when the policy confines nothing, so that no sandbox is started. */
export function isUnsandboxed(policy: SandboxPolicy): boolean {
  return policy.mode === 'danger-full-access';
}

/** The folders that commands may write: the root first, if it is one. */
export function writableRoots(policy: SandboxPolicy): readonly string[] {
  const paths = policy.files.filter(({ access }) => access === 'write').map(({ path }) => path);
  return paths.includes(policy.root) ? [policy.root, ...paths.filter((path) => path !== policy.root)] : paths;
}
