import type { Access } from './fileRules.ts';
import type { CacheMode, GitMode, NetworkMode, SandboxMode, TmpMode } from './policy.ts';

/** What holds where nobody says otherwise. */
export const defaultWords: {
  readonly mode: SandboxMode;
  readonly network: NetworkMode;
  readonly tmp: TmpMode;
  readonly git: GitMode;
  readonly caches: CacheMode;
} = { mode: 'workspace-write', network: 'off', tmp: 'private', git: 'commands', caches: 'private' };

/** In the language of the setting `cordon.sandbox.files`. */
export const defaultFiles: Readonly<Record<string, Access>> = {
  ':root': 'read',
  ':workspace': 'write',
  ':home': 'none',
  // Without the rest of it git would take that for deleted.
  ':repository': 'read',
  ':toolchains': 'read',
  ':secrets': 'none',
  // Settings with passwords; the others are examples that go into the repository.
  '**/.env': 'none',
  '**/.env.!(example|sample|template|dist|test)': 'none',
  // Private keys by the names that tools give them. Not `*.pem` and `*.key`: most are certificates and fixtures that
  // tests and TLS clients read, and whoever keeps a key under such a name can hide it by a rule.
  '**/id_{rsa,dsa,ecdsa,ed25519,ecdsa_sk,ed25519_sk}': 'none',
  '**/*.kdbx': 'none',
  // Logins. Not `.npmrc`: without it packages are installed from elsewhere.
  '**/{.netrc,.git-credentials,.pypirc,.pgpass}': 'none',
};

export const defaultLimits: { readonly processes?: number; readonly fileSizeMiB?: number } = {
  processes: 4096,
  fileSizeMiB: 32_768,
};

/** The part of the machine's memory that one command may have. */
export const defaultMemoryShare = 0.8;
