import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { isInside } from '../../paths.ts';

/**
 * The first executable `bwrap` on the search path whose real path lies in none of the untrusted folders, as that real
 * path: a workspace that brings its own launcher must not be confined by it. Undefined when there is none.
 */
export function findBubblewrap(searchPath: string, untrustedFolders: readonly string[]): string | undefined {
  for (const folder of searchPath.split(':').filter(isAbsolute)) {
    const path = executableAt(join(folder, 'bwrap'));
    if (path !== undefined && !untrustedFolders.some((untrusted) => isInside(path, untrusted))) {
      return path;
    }
  }
  return undefined;
}

function executableAt(path: string): string | undefined {
  try {
    const real = realpathSync(path);
    accessSync(real, constants.X_OK);
    return statSync(real).isFile() ? real : undefined;
  } catch {
    // Missing or not executable: the next folder may have it.
    return undefined;
  }
}
