import type { Result } from '../../base/result.ts';
import { fail } from '../../base/result.ts';
import type { PatchError } from '../../patch/patchError.ts';
import type { PatchMachine } from '../../patch/patchSite.ts';
import type { ReviewPlace } from '../../patch/review/planAnew.ts';
import type { RefusedCommand } from '../../runtime/places.ts';
import type { Root } from '../../runtime/roots.ts';

export interface PatchPlaces {
  /** The open folders, each with the machine that runs its commands. */
  readonly list: () => readonly Root[];
  /** Connects where that is needed. */
  readonly placeOf: (root: Root) => Promise<Result<ReviewPlace, RefusedCommand>>;
}

/** What waits for a person, or was kept for them. */
export interface PatchOrigin {
  /** The root whose policy judges the writes, as the machine calls it that has the files. */
  readonly root: string;
  /** When that is another one. */
  readonly machine?: PatchMachine | undefined;
}

/**
 * Where something that a patch left behind is applied now: on the machine that it was made for and on no other, however
 * its paths are spelt.
 */
export async function placeOfPatch(
  { root: path, machine }: PatchOrigin,
  { list, placeOf }: PatchPlaces,
): Promise<Result<ReviewPlace, PatchError>> {
  const folder = machine?.folder ?? path;
  const root = list().find((candidate) => candidate.path === folder);
  if (root === undefined) {
    return fail(notOpen(folder));
  }
  if (machine !== undefined && root.environment !== machine.environment) {
    return fail(elsewhere(root, machine));
  }
  // Files of this machine stay its own when commands go elsewhere.
  const place = await placeOf(machine === undefined ? { name: root.name, path: root.path } : root);
  return place.ok ? place : fail({ kind: 'machine', message: place.error.message, hint: place.error.hint });
}

function notOpen(folder: string): PatchError {
  return {
    kind: 'access',
    path: folder,
    message: `Nothing was changed: the folder ${folder} is not open in this window.`,
    hint: 'Open the folder, and try again.',
  };
}

function elsewhere({ name, environment = 'this machine' }: Root, machine: PatchMachine): PatchError {
  return {
    kind: 'machine',
    message: `Nothing was changed: the files are on ${machine.environment}, and the commands of ${name} run on ${environment} now.`,
    hint: `Choose ${machine.environment} with "Cordon: Select Environment…", and try again.`,
  };
}
