import type { Result } from '../../../base/result.ts';
import { fail, ok } from '../../../base/result.ts';
import { isBelow, isInside } from '../../paths.ts';
import type { FileRule } from '../../policy/fileRules.ts';
import type { SandboxPolicy } from '../../policy/policy.ts';
import { runFolder, systemFolders } from '../../policy/systemFolders.ts';
import type { HeldPaths, SandboxError } from '../../sandboxManager.ts';
import type { Surroundings } from './gatherPlaces.ts';
import { gatherPlaces } from './gatherPlaces.ts';
import { hiddenFolder } from './hiddenFolder.ts';
import { layOut } from './layOut.ts';
import type { Machine } from './machine.ts';
import { homeFolders } from './machine.ts';
import type { Mount } from './mounts.ts';
import type { Places } from './places.ts';
import type { ProtectedPaths } from './protectedPaths.ts';
import { findProtectedPaths } from './protectedPaths.ts';

/** The mounts of a policy, unordered, and what needs a claim before it can be decided. */
export interface MountPlan extends HeldPaths {
  readonly mounts: readonly Mount[];
  readonly protectedPaths: ProtectedPaths;
}

/**
 * What the command sees of the file system: what the policy's rules say, exactly, the metadata of writable roots
 * protected; fresh `/dev`, `/proc`, `/run`; and with a private tmp an empty `/tmp`.
 */
export function planMounts(
  policy: SandboxPolicy,
  cwd: string,
  machine: Machine,
  around: Surroundings,
): Result<MountPlan, SandboxError> {
  const unusable = policy.files.find(isUnusable);
  if (unusable !== undefined) {
    return fail(unenforceable(unusable));
  }
  const isTmpWritable = policy.mode === 'workspace-write' && policy.tmp === 'shared';
  const protectedPaths = findProtectedPaths(
    policy,
    around.tree,
    isTmpWritable ? machine.temporaryFolders : [],
  );
  const places = gatherPlaces(policy, machine, around);
  for (const { path, access } of protectedPaths.outside) {
    places.put({ path, shows: access });
  }
  for (const path of protectedPaths.existing) {
    if (places.enclosing(path)?.shows === 'write') {
      places.put({ path, shows: 'read' });
    }
  }
  const homes = homeFolders(machine);
  const layout = layOut(places, new Set(['/', ...homes]), machine.homeFolder);
  if (!layout.ok) {
    return layout;
  }
  const shown = layout.value.places;
  if (!isVisible(cwd, shown, homes)) {
    return fail(hiddenFolder(cwd, shown.enclosing(cwd), policy, machine));
  }
  const isOpen = (path: string): boolean => shown.enclosing(path)?.shows === 'write';
  return ok({
    mounts: layout.value.mounts,
    isHeld: async (path) => ['read', 'none'].includes(shown.enclosing(path)?.shows ?? ''),
    protectedPaths: {
      ...protectedPaths,
      existing: claimable(shown),
      missing: [...new Set([...protectedPaths.missing.filter(isOpen), ...layout.value.missing])],
    },
  });
}

/** What another run may have put there as a mount point, so that it could vanish under the mask of this one. */
function claimable(shown: Places): string[] {
  return shown
    .all()
    .filter(({ shows, source }) => source === undefined && (shows === 'read' || shows === 'none'))
    .map(({ path }) => path)
    .filter((path) => shown.above(path)?.shows === 'write');
}

function isVisible(cwd: string, shown: Places, homes: ReadonlySet<string>): boolean {
  const place = shown.enclosing(cwd);
  if (place?.shows === 'scratch') {
    return place.path === cwd;
  }
  return place?.shows !== 'none' || cwd === '/' || homes.has(cwd);
}

/** The sandbox has its own `/dev`, `/proc` and `/run`; nobody writes in `/sys`. */
function isUnusable({ path, access }: FileRule): boolean {
  if (path === runFolder) {
    return access !== 'none';
  }
  if (path === '/dev' || path === '/proc') {
    return access !== 'read';
  }
  return systemFolders.some(
    (folder) =>
      isInside(path, folder) && (access === 'write' || (folder !== '/sys' && isBelow(path, folder))),
  );
}

function unenforceable({ path, access, writtenAs }: FileRule): SandboxError {
  const name = writtenAs === undefined ? path : `${writtenAs} (${path})`;
  return {
    kind: 'clause-unenforceable',
    message:
      access === 'write'
        ? `${name} cannot be a writable root: the sandbox has its own /dev, /proc and /run.`
        : `${name} cannot be "${access}": the sandbox has its own /dev, /proc and /run.`,
    hint: `Take it out of cordon.sandbox.${access === 'write' ? 'writableRoots' : 'files'}.`,
  };
}
