import { dirname, join } from 'node:path';
import { followGitPointer, gitAbove, lookUp, ownTargets } from './gitFolders.ts';

/**
 * The top folder of the repository in which a folder lies that is no repository itself, as git would find it: git
 * refuses one of another user. A link in place of its `.git`, and a pointer that what it leads to does not confirm,
 * count as none. The folder must be canonical.
 */
export function repositoryAround(folder: string): string | undefined {
  const git = lookUp(join(folder, '.git')) === undefined ? gitAbove(folder) : undefined;
  const entry = git === undefined ? undefined : lookUp(git);
  if (git === undefined || entry === undefined || entry.isSymbolicLink()) {
    return undefined;
  }
  const top = dirname(git);
  const isOwn = entry.uid === process.getuid?.() && lookUp(top)?.uid === entry.uid;
  const isConfirmed = entry.isDirectory() || ownTargets(git, followGitPointer(git)).length > 0;
  return isOwn && isConfirmed ? top : undefined;
}
