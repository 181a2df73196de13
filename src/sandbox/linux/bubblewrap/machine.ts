import type { ToolCache } from '../../policy/files/toolCaches.ts';

/** Canonical places of this machine; they do not change while Cordon runs. */
export interface Machine {
  readonly helperPath: string;
  /** Cordon's notes about runs: never visible inside. */
  readonly runtimeFolder: string;
  /** More that is never visible inside. */
  readonly hiddenFolders: readonly string[];
  /** `/tmp` and `/var/tmp`, as far as they exist. */
  readonly temporaryFolders: readonly string[];
  readonly homeFolder: string;
  /** Cordon's own cache, with the private caches of all roots in it: never visible inside as a whole. */
  readonly cacheFolder: string;
  /** The tools that have a cache here: their program is on the search path, or they have been used before. */
  readonly toolCaches: readonly ToolCache[];
  /** Programs and folders that later runs trust: read-only, should a writable root contain them. */
  readonly trustedPaths: readonly string[];
  /** What commands may run of Cordon's own: read-only and visible, should it lie in a folder that is hidden. */
  readonly programPaths: readonly string[];
}

/** Where the launcher's companion is inside every sandbox. */
export const helperInside = '/run/cordon/launch';

/** Where the network proxy's socket is inside a sandbox with an allow-list; the companion's `--connect` knows it, too. */
export const proxyInside = '/run/cordon/proxy.sock';

/** Where the links are that stand for programs which are asked about; first on the search path. `part.c` knows it, too. */
export const partsInside = '/run/cordon/parts';

/** Where they ask. */
export const doorInside = '/run/cordon/parts.sock';

/** Where people live: shown as folders that have nothing in them but what is opened. */
export function homeFolders({ homeFolder }: Pick<Machine, 'homeFolder'>): ReadonlySet<string> {
  return new Set([homeFolder, '/home', '/root']);
}
