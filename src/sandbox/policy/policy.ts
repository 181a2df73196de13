import type { EnvironmentPolicy } from '../environment.ts';

/** What a command may write, as one word: the three modes of the reference. */
export const sandboxModes = ['read-only', 'workspace-write', 'danger-full-access'] as const;
export type SandboxMode = (typeof sandboxModes)[number];

/** `off`: a network namespace of its own, with nothing but its own loopback. */
export const networkModes = ['off', 'on'] as const;
export type NetworkMode = (typeof networkModes)[number];

/** `private`: an empty `/tmp` per command, in memory. `shared`: the machine's own, writable in workspace-write. */
export const tmpModes = ['private', 'shared'] as const;
export type TmpMode = (typeof tmpModes)[number];

/** The clauses of a policy that a person can see and steer. */
export type PolicyClause = 'mode' | 'network' | 'tmp' | 'writableRoots' | 'environment';

/** Who decided a clause. `workspace` can only have narrowed it. */
export type PolicySource = 'default' | 'user' | 'grant' | 'workspace' | 'untrusted' | 'request';

/**
 * What a command may read, write and reach in one root: a value, resolved once, immutable.
 * Paths are absolute and canonical (no symbolic link in them).
 */
export interface SandboxPolicy {
  readonly root: string;
  readonly mode: SandboxMode;
  readonly network: NetworkMode;
  readonly tmp: TmpMode;
  /** Folders writable in workspace-write: the root first, then the ones that the person added. */
  readonly writableRoots: readonly string[];
  readonly environment: EnvironmentPolicy;
  readonly sources: Readonly<Record<PolicyClause, PolicySource>>;
}

/** True when the policy confines nothing, so that no sandbox is started. */
export function isUnsandboxed(policy: SandboxPolicy): boolean {
  return policy.mode === 'danger-full-access';
}
