import type { Access } from './fileRules.ts';
import type { CacheMode, GitMode, NetworkMode, SandboxMode, TmpMode } from './policy.ts';

/** What holds where nobody says otherwise. */
export const defaultWords: {
  readonly mode: SandboxMode;
  readonly network: NetworkMode;
  readonly tmp: TmpMode;
  readonly git: GitMode;
  readonly caches: CacheMode;
} = { mode: 'workspace-write', network: 'off', tmp: 'private', git: 'read-only', caches: 'off' };

/** In the language of the setting `cordon.sandbox.files`. */
export const defaultFiles: Readonly<Record<string, Access>> = {
  ':root': 'read',
  ':workspace': 'write',
};

export const defaultLimits: { readonly processes?: number; readonly fileSizeMiB?: number } = {};

/** The part of the machine's memory that one command may have; undefined: all. */
export const defaultMemoryShare: number | undefined = undefined;
