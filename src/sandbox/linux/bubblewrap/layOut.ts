import { readdirSync, readlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Result } from '../../../base/result.ts';
import { fail, ok } from '../../../base/result.ts';
import { depthOf, isBelow } from '../../paths.ts';
import type { SandboxError } from '../../sandboxManager.ts';
import { UnmovedPaths, canonicalPath, lookAt } from './disk.ts';
import type { Mount } from './mounts.ts';
import type { Place } from './places.ts';
import { Places } from './places.ts';

/** The mounts that show the places, unordered. */
export interface Layout {
  readonly mounts: readonly Mount[];
  /** What each mount shows, without the places that change nothing. */
  readonly places: Places;
  /** Names that must not come to be: nothing is there that could be covered. */
  readonly missing: readonly string[];
}

/**
 * Turns places into mounts by what is on the disk. A place that shows what is shown around it needs no mount; one
 * that cannot be shown exactly fails. `shown`: hidden folders that may be listed, with the links that lead to
 * something visible, because programs find their way through them: `/` and where people live.
 */
export function layOut(
  places: Places,
  shown: ReadonlySet<string>,
  homeFolder: string,
): Result<Layout, SandboxError> {
  const kept = new Places();
  const unmoved = new UnmovedPaths();
  const mounts: Mount[] = [];
  const missing = new Set<string>();
  const byDepth = [...places.all()].sort((a, b) => depthOf(a.path) - depthOf(b.path));
  for (const place of byDepth) {
    const above = kept.above(place.path);
    if (above !== undefined && isNeedless(place, above)) {
      continue;
    }
    const outcome = mountFor(place, above, unmoved);
    if (!outcome.ok) {
      return outcome;
    }
    const { mount, missing: name } = outcome.value;
    if (mount !== undefined) {
      mounts.push(mount);
      kept.put(place);
    }
    if (name !== undefined) {
      missing.add(name);
    }
  }
  const opened = mounts.map((mount) => openFolder(mount, kept, shown));
  return ok({
    mounts: [...opened, ...links(kept, shown), ...homeIn(kept, homeFolder)],
    places: kept,
    missing: [...missing],
  });
}

/** A private folder and what every sandbox has of its own have nothing of the person's to hide. */
function isNeedless(place: Place, above: Place): boolean {
  if (place.source !== undefined) {
    return false;
  }
  if (place.shows === 'none') {
    return !['read', 'write'].includes(above.shows) || above.source !== undefined;
  }
  return place.shows === above.shows && above.source === undefined && place.shows !== 'scratch';
}

interface Outcome {
  readonly mount?: Mount;
  readonly missing?: string;
}

function mountFor(
  place: Place,
  above: Place | undefined,
  unmoved: UnmovedPaths,
): Result<Outcome, SandboxError> {
  const { path, shows, source } = place;
  if (source !== undefined) {
    return ok({ mount: { path, kind: shows === 'write' ? 'write' : 'read', source } });
  }
  if (shows === 'devices' || shows === 'processes' || shows === 'scratch') {
    return ok({ mount: { path, kind: shows } });
  }
  const isChangeable = above?.shows === 'write' && above.source === undefined;
  const entry = lookAt(path);
  if (entry === undefined) {
    return !isChangeable || shows === 'write' ? ok({}) : firstMissing(path, unmoved);
  }
  if (entry === 'unreachable') {
    // Nor can the command reach it, as long as it cannot change the folders above.
    return isChangeable ? fail(unreachable(path)) : ok({});
  }
  if (!unmoved.has(path, entry)) {
    return fail(moved(path));
  }
  if (shows === 'none') {
    return ok({ mount: { path, kind: entry.isDirectory() ? 'closed' : 'unreadable' } });
  }
  return ok({ mount: { path, kind: shows } });
}

/** Nothing below a folder that cannot come to be can come to be. */
function firstMissing(path: string, unmoved: UnmovedPaths): Result<Outcome, SandboxError> {
  let name = path;
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const entry = lookAt(folder);
    if (entry === 'unreachable') {
      return fail(unreachable(folder));
    }
    if (entry !== undefined) {
      return entry.isDirectory() && unmoved.has(folder, entry)
        ? ok({ missing: name })
        : fail(blocked(path, folder));
    }
    name = folder;
  }
}

/** A hidden folder with something visible in it must let pass to that. */
function openFolder(mount: Mount, kept: Places, shown: ReadonlySet<string>): Mount {
  if (mount.kind !== 'closed') {
    return mount;
  }
  if (shown.has(mount.path)) {
    return { ...mount, kind: 'shown' };
  }
  return kept.all().some(({ path }) => isBelow(path, mount.path)) ? { ...mount, kind: 'passage' } : mount;
}

function links(kept: Places, shown: ReadonlySet<string>): Mount[] {
  return [...shown].filter((folder) => isHidden(kept, folder)).flatMap((folder) => linksIn(folder, kept));
}

function isHidden(kept: Places, path: string): boolean {
  return kept.enclosing(path)?.shows === 'none';
}

function linksIn(folder: string, kept: Places): Mount[] {
  const entries = readableEntries(folder);
  return entries
    .map((name) => join(folder, name))
    .filter((path) => kept.at(path) === undefined && leadsToVisible(path, kept))
    .map((path) => ({ path, kind: 'link', source: readlinkSync(path) }));
}

function readableEntries(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isSymbolicLink())
      .map(({ name }) => name);
  } catch {
    // Missing, or another user's.
    return [];
  }
}

function leadsToVisible(path: string, kept: Places): boolean {
  const target = canonicalPath(path);
  return target !== undefined && !isHidden(kept, target);
}

/** The home folder inside of a hidden one is there, too, even with nothing in it. */
function homeIn(kept: Places, homeFolder: string): Mount[] {
  if (kept.at(homeFolder) !== undefined || !isHidden(kept, homeFolder)) {
    return [];
  }
  const hasOpened = kept.all().some(({ path }) => isBelow(path, homeFolder));
  return [{ path: homeFolder, kind: hasOpened ? 'shown' : 'folder' }];
}

const error = (message: string, hint: string): SandboxError => ({
  kind: 'clause-unenforceable',
  message,
  hint,
});

function moved(path: string): SandboxError {
  return error(
    `${path} has a rule, but is or lies behind a symbolic link now, which a mount cannot follow safely.`,
    `Replace the link by what it leads to, or give the rule for that instead (cordon.sandbox.files).`,
  );
}

function unreachable(path: string): SandboxError {
  return error(
    `${path} has a rule, but Cordon may not enter the folder above it, while a command could let itself in.`,
    `Give yourself the right to enter (chmod u+x), or take the rule out of cordon.sandbox.files.`,
  );
}

function blocked(path: string, obstacle: string): SandboxError {
  return error(
    `${path} has a rule, but ${obstacle} on the way to it is not a folder, and a command could replace it by one.`,
    `Take the rule for ${path} out of cordon.sandbox.files, or give one for ${obstacle}.`,
  );
}
