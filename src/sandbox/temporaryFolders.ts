import { realpathSync } from 'node:fs';

/** The machine's temporary folders, canonical, as far as they exist: writable where a policy's tmp is `shared`. */
export function temporaryFolders(): readonly string[] {
  const found = ['/tmp', '/var/tmp'].flatMap((path) => {
    try {
      return [realpathSync(path)];
    } catch {
      // Not on this machine.
      return [];
    }
  });
  return [...new Set(found)];
}
