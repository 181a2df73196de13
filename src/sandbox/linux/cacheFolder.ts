import type { Stats } from 'node:fs';
import { existsSync, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import type { ToolCache } from '../policy/files/toolCaches.ts';
import { toolCaches } from '../policy/files/toolCaches.ts';
import type { SandboxError } from '../sandboxManager.ts';
import { pathHash } from './pathHash.ts';

/** Where Cordon's own cache is: below `XDG_CACHE_HOME`, or else in the home folder. It need not exist yet. */
export function ownCacheFolder(
  homeFolder: string,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const given = environment['XDG_CACHE_HOME'];
  const base = given !== undefined && isAbsolute(given) ? given : join(homeFolder, '.cache');
  return join(canonicalOrSame(base), 'cordon');
}

/** The tools that a person of this machine has: each costs every command a mount. */
export function usedToolCaches(homeFolder: string, searchPath: string): readonly ToolCache[] {
  const isInstalled = (program: string): boolean =>
    searchPath.split(':').some((folder) => isAbsolute(folder) && existsSync(join(folder, program)));
  return toolCaches.filter(
    ({ folder, programs }) =>
      programs.length === 0 || programs.some(isInstalled) || existsSync(join(homeFolder, folder)),
  );
}

/**
 * The folder with the private caches of one root, with a place for each of the tools in it, made where it is missing.
 * Fails when it is not this user's alone: what lies in it is executed by the tools of that root.
 */
export function openPrivateCaches(
  ownFolder: string,
  root: string,
  tools: readonly Pick<ToolCache, 'folder'>[],
): Result<string, SandboxError> {
  const folder = join(ownFolder, 'caches', pathHash(root));
  try {
    for (const path of [ownFolder, join(ownFolder, 'caches'), folder]) {
      const reason = whyNotPrivate(folderAt(path));
      if (reason !== undefined) {
        return unusable(path, reason);
      }
    }
    for (const path of tools.map((tool) => join(folder, tool.folder))) {
      if (!folderAt(path).isDirectory()) {
        return unusable(path, 'it is not a folder');
      }
    }
  } catch (error) {
    return unusable(folder, String(error));
  }
  return ok(folder);
}

/** Made if need be: looking costs a tenth of what making does, even where nothing is to be made. */
function folderAt(path: string): Stats {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry !== undefined) {
    return entry;
  }
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return lstatSync(path);
}

function whyNotPrivate(entry: Stats): string | undefined {
  if (!entry.isDirectory()) {
    return 'it is not a folder';
  }
  if (entry.uid !== process.getuid?.()) {
    return 'it belongs to another user';
  }
  return (entry.mode & 0o022) === 0 ? undefined : 'others may write in it';
}

function unusable(path: string, reason: string): Result<never, SandboxError> {
  return fail({
    kind: 'clause-unenforceable',
    message: `The folder ${path}, for caches that only one root sees, cannot be used: ${reason}.`,
    hint: `Remove ${path}, or make it yours alone (chown, chmod 700), or set cordon.sandbox.caches to "off" or "shared".`,
  });
}

function canonicalOrSame(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // Made when it is needed.
    return path;
  }
}
