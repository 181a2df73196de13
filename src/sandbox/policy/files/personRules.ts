import { dirname } from 'node:path';
import type { Result } from '../../../base/result.ts';
import { fail, ok } from '../../../base/result.ts';
import { isBelow } from '../../paths.ts';
import { problemWith } from '../checkSettings.ts';
import type { Access, FileRule, FileRules, HiddenGlob } from '../fileRules.ts';
import { deepestRule } from '../fileRules.ts';
import type { PolicyProblem } from '../input.ts';
import type { Layer } from '../layers.ts';
import { findSecrets } from './secrets.ts';
import type { Surroundings } from './places.ts';
import { readTarget } from './targets.ts';

/** The rules while layers are added, weakest first. */
interface Gathered {
  readonly files: ReadonlyMap<string, FileRule>;
  readonly hidden: readonly HiddenGlob[];
}

/**
 * The rules that layers give together: at the same path the stronger layer's counts, and of one layer the strictest,
 * except that `write` outranks `read`, because who lists a folder as writable means it.
 */
export function gatherRules(
  layers: readonly Layer[],
  around: Surroundings,
): Result<FileRules, PolicyProblem> {
  let gathered: Gathered = { files: new Map(), hidden: [] };
  for (const layer of layers) {
    const next = addLayer(gathered, layer, around);
    if (!next.ok) {
      return next;
    }
    gathered = next.value;
  }
  const files = [...gathered.files.values()];
  const hasSecrets = layers.findLast(({ settings }) => settings.files?.[secrets] !== undefined);
  return ok({
    files: [
      ...files,
      ...(hasSecrets?.settings.files?.[secrets] === 'none' ? secretsToCome(files, hasSecrets, around) : []),
    ],
    hidden: gathered.hidden,
  });
}

const secrets = ':secrets';

const rank: Readonly<Record<Access, number>> = { read: 0, write: 1, none: 2 };

function addLayer(
  before: Gathered,
  { owner, settings }: Layer,
  around: Surroundings,
): Result<Gathered, PolicyProblem> {
  const own = new Map<string, FileRule>();
  const add = (path: string, access: Access, writtenAs: string): void => {
    const present = own.get(path);
    if (present === undefined || rank[access] > rank[present.access]) {
      const rule = { path, access, source: owner.source };
      own.set(path, path === writtenAs ? rule : { ...rule, writtenAs });
    }
  };
  let hidden = before.hidden;
  const { files = {}, writableRoots = [] } = settings;
  for (const [key, access] of Object.entries(files)) {
    const target = readTarget(key, around);
    if (!target.ok) {
      return fail(problemWith(owner, ['files'], key, target.error));
    }
    if (target.value.kind === 'paths') {
      for (const { path, exists } of target.value.locations) {
        // A folder to write in is made by whoever needs it, outside; one to hide must not come to be readable.
        if (exists || (access !== 'write' && key !== secrets)) {
          add(path, access, key);
        }
      }
      continue;
    }
    const { globs } = target.value;
    const others = hidden.filter(
      (known) => !globs.some(({ folder, glob }) => known.folder === folder && known.glob === glob),
    );
    if (access === 'none') {
      hidden = [...others, ...globs.map((glob) => ({ ...glob, source: owner.source }))];
    } else if (access === 'read' && others.length < hidden.length) {
      hidden = others;
    } else {
      return fail(problemWith(owner, ['files', key], access, onlyHides));
    }
  }
  for (const root of writableRoots) {
    const target = /^(\/|~$|~\/)/.test(root) ? readTarget(root, around) : fail(absolute);
    if (!target.ok || target.value.kind !== 'paths') {
      const expected = target.ok ? 'a folder: globs can only hide' : target.error;
      return fail(problemWith(owner, ['writableRoots'], root, expected));
    }
    target.value.locations.filter(({ exists }) => exists).forEach(({ path }) => add(path, 'write', root));
  }
  return ok({ files: new Map([...before.files, ...own]), hidden });
}

const onlyHides =
  '"none": globs can only hide. "read" lifts a glob that holds without it, such as one of the defaults; write its text exactly';
const absolute = 'a list of absolute paths or paths that begin with "~/"';

/** Secrets that do not exist yet, in folders of the home that a person opened. */
function secretsToCome(files: readonly FileRule[], layer: Layer, around: Surroundings): FileRule[] {
  const { source } = layer.owner;
  return findSecrets(around)
    .filter(({ path, exists }) => {
      const opened = exists ? undefined : deepestRule(files, dirname(path));
      return (
        opened !== undefined &&
        opened.source !== 'default' &&
        opened.access !== 'none' &&
        isBelow(opened.path, around.homeDir) &&
        around.canonicalize(dirname(path)) !== undefined &&
        !files.some((rule) => rule.path === path)
      );
    })
    .map(({ path }) => ({ path, access: 'none', source, writtenAs: secrets }));
}
