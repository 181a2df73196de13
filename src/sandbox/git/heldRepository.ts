import { dirname, join } from 'node:path';
import type { HeldPaths } from '../sandboxManager.ts';
import { parseGitConfig } from './configFile.ts';
import { followGitPointer, gitAbove, isGitFolder, lookUp, ownTargets } from './gitFolders.ts';
import { readText } from './readText.ts';

const maxConfigBytes = 1 << 20;

/** A repository whose hooks and configuration a running command cannot change. */
export interface HeldRepository {
  readonly gitFolder: string;
  /** With the configuration; another one only for a linked worktree. */
  readonly commonFolder: string;
  readonly workTree: string;
}

/**
 * The repository in which git would find itself in a folder, which must be canonical. `none`: there is none. `loose`:
 * the command of the sandbox could have made it, or can change what git executes or reads its configuration from.
 */
export async function heldRepository(
  folder: string,
  sandbox: HeldPaths,
): Promise<HeldRepository | 'none' | 'loose'> {
  // An empty `.git` of a launcher, which keeps commands from making one, is none for git either.
  const git = gitAbove(join(folder, '.git'));
  if (git === undefined) {
    return 'none';
  }
  const [gitFolder, common] = targetsOf(git);
  if (gitFolder === undefined) {
    return 'loose';
  }
  const isPointer = gitFolder !== git;
  const configured = common ?? gitFolder;
  const decisive = [
    ...(isPointer ? [git] : []),
    join(configured, 'config'),
    ...[join(gitFolder, 'commondir'), join(gitFolder, 'config.worktree')].filter(
      (path) => lookUp(path) !== undefined,
    ),
  ];
  const areHeld = await Promise.all(decisive.map((path) => sandbox.isHeld(path)));
  const isWhole = isConfiguredAlone(gitFolder, configured) && !areHeld.includes(false);
  return isWhole ? { gitFolder, commonFolder: configured, workTree: dirname(git) } : 'loose';
}

/** Whether there is no second file that git reads if it comes to be: launchers remove that one, but do not prevent it. */
function isConfiguredAlone(gitFolder: string, configured: string): boolean {
  const config = join(configured, 'config');
  const entries = parseGitConfig(readText(config, maxConfigBytes) ?? '');
  return (
    entries !== undefined &&
    lookUp(config)?.isFile() === true &&
    (lookUp(join(gitFolder, 'config.worktree')) !== undefined ||
      !entries.some(({ key }) => key === 'extensions.worktreeconfig'))
  );
}

/** The repository's folder, and the one with its configuration when that is another. */
function targetsOf(git: string): readonly string[] {
  const entry = lookUp(git);
  if (entry?.isDirectory() === true) {
    return isGitFolder(git) ? [git] : [];
  }
  return entry?.isFile() === true ? ownTargets(git, followGitPointer(git)) : [];
}
