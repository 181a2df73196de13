import { existsSync } from 'node:fs';
import type { Result } from '../../base/result.ts';
import { ok } from '../../base/result.ts';
import { isInside } from '../paths.ts';
import type { SandboxPolicy } from '../policy/policy.ts';
import { writableRoots } from '../policy/policy.ts';
import { systemFolders } from '../policy/systemFolders.ts';
import type { SandboxError } from '../sandboxManager.ts';
import { temporaryFolders } from '../temporaryFolders.ts';
import type { Surroundings } from './bubblewrap/gatherPlaces.ts';
import type { Machine } from './bubblewrap/machine.ts';
import { openPrivateCaches } from './cacheFolder.ts';
import { hiddenPaths, searchedTrees } from './hiddenPaths.ts';
import { canonicalSocket, hostSockets } from './hostSockets.ts';
import type { TreeFindings } from './treeIndex.ts';
import type { TreeIndexes } from './treeIndexes.ts';

/** What only the machine knows at this moment. */
export async function lookAround(
  policy: SandboxPolicy,
  machine: Machine,
  trees: TreeIndexes,
): Promise<Result<Surroundings, SandboxError>> {
  const tree = await readTrees(policy, trees);
  if (!tree.ok) {
    return tree;
  }
  const around = {
    tree: tree.value,
    hidden: hiddenPaths(policy, tree.value),
    openedSockets: policy.sockets.map((path) => canonicalSocket(path)).filter((path) => path !== undefined),
    sockets: hostSockets(),
  };
  // The account of a service has no home in which tools could look for caches.
  const hasCaches = policy.caches === 'private' && policy.mode !== 'read-only';
  if (!hasCaches || !existsSync(machine.homeFolder)) {
    return ok(around);
  }
  const caches = openPrivateCaches(machine.cacheFolder, policy.root, machine.toolCaches);
  return caches.ok ? ok({ ...around, privateCaches: caches.value }) : caches;
}

/** What the globs hide, and the repositories and hard links in everything that may be written. */
export function readTrees(
  policy: SandboxPolicy,
  trees: TreeIndexes,
): Promise<Result<TreeFindings, SandboxError>> {
  return trees.read([...searchedTrees(policy), ...searchedRoots(policy)], policy.hidden);
}

/**
 * The writable folders that are looked through: not the whole machine, should a person have opened it, nor the
 * temporary folders that everybody fills and empties, where another client of an exec-server asked for them: they are
 * in nearly every one of its requests, and its words know of no protection there.
 */
export function searchedRoots(policy: SandboxPolicy): readonly string[] {
  const isSystem = (root: string): boolean => systemFolders.some((folder) => isInside(root, folder));
  const unsearched = policy.sources.tmp === 'request' ? temporaryFolders() : [];
  return writableRoots(policy).filter(
    (root) => root !== '/' && !isSystem(root) && (root === policy.root || !unsearched.includes(root)),
  );
}
