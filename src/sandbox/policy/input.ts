import type { PolicySource } from './policy.ts';
import type { PolicySettings } from './settings.ts';

/** A setting or a choice that is not what it must be. */
export interface PolicyProblem {
  /** The setting at fault, as the user knows it. */
  readonly field: string;
  readonly message: string;
  readonly hint: string;
  /** Whose value it is. */
  readonly source: PolicySource;
}

/** {@link PolicySettings} as they come from settings and storage: nothing is checked, undefined means not set. */
export type UncheckedSettings = { readonly [Field in keyof PolicySettings]?: unknown };

/** What a policy depends on of the machine that it is for. */
export interface PolicyMachine {
  readonly homeDir: string;
  /** The search path of commands; toolchains in the home folder are found through it, too. */
  readonly searchPath: string;
  readonly memoryMiB: number;
  /** The canonical path of an existing folder or file; undefined when there is none. */
  readonly canonicalize: (path: string) => string | undefined;
  /** The names in a folder; empty when there is none or nobody may look. */
  readonly listFolder: (path: string) => readonly string[];
  /** The canonical top folder of this user's repository in which a folder lies that is none itself. */
  readonly repositoryAround: (folder: string) => string | undefined;
}

/** Everything that has a say in the policy of one root. */
export interface PolicyInput extends PolicyMachine {
  /** Canonical path of the root. */
  readonly root: string;
  readonly isTrusted: boolean;
  readonly user: UncheckedSettings;
  /** Profiles by name: settings, and in `extends` another profile or a mode to start from. Unchecked. */
  readonly profiles?: unknown;
  /** The name of the profile chosen, or a mode. Unchecked. */
  readonly profile?: unknown;
  /** The person's choice for this root, kept in the extension's own storage. */
  readonly grant?: UncheckedSettings;
  /** What the machine's administrator demands, whatever shape it has: it can only narrow. */
  readonly managed?: unknown;
  /** What the workspace says about itself: it can only narrow. */
  readonly workspace?: UncheckedSettings;
}
