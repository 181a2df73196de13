import type { InheritedEnvironment, LocalBackend } from '../../../exec/localBackend.ts';
import { createLocalBackend } from '../../../exec/localBackend.ts';
import type { Upstream } from '../../../../sandbox/network/upstream.ts';
import type { SandboxManager } from '../../../../sandbox/sandboxManager.ts';

/** What a client knows that decides how commands are confined, whatever their policies say. */
export interface SandboxConfiguration {
  /** Folders from which no launcher is ever taken. */
  readonly untrustedFolders: readonly string[];
  /** What commands never write. */
  readonly trustedPaths: readonly string[];
  /** How allowed hosts are reached: null for no proxy, absent for that of this machine's variables. */
  readonly upstream?: Upstream | null;
}

export const noConfiguration: SandboxConfiguration = { untrustedFolders: [], trustedPaths: [] };

/** Sandbox and backend under one configuration. */
export interface ConfiguredBackend {
  readonly sandbox: SandboxManager;
  readonly backend: LocalBackend;
}

/** How many configurations are kept at hand: every open window has one. */
const maxKept = 32;

/** One backend for each configuration that is in use: what its sandbox found out about the machine is shared. */
export class Backends {
  readonly #create: (configuration: SandboxConfiguration) => SandboxManager;
  readonly #inherited: InheritedEnvironment;
  readonly #kept = new Map<string, ConfiguredBackend>();

  constructor(
    create: (configuration: SandboxConfiguration) => SandboxManager,
    inherited: InheritedEnvironment,
  ) {
    this.#create = create;
    this.#inherited = inherited;
  }

  for(configuration: SandboxConfiguration): ConfiguredBackend {
    const key = JSON.stringify(configuration);
    const known = this.#kept.get(key);
    if (known !== undefined) {
      return known;
    }
    const sandbox = this.#create(configuration);
    const made = { sandbox, backend: createLocalBackend(sandbox, this.#inherited) };
    this.#kept.set(key, made);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > maxKept && oldest !== undefined) {
      this.#kept.delete(oldest);
    }
    return made;
  }
}
