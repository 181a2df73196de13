import { isInside } from '../paths.ts';
import type { Access } from '../policy/fileRules.ts';
import type { PolicySettings } from '../policy/settings.ts';
import type { Notes } from './importedPolicy.ts';
import { isGlob, wholeFolder } from './paths.ts';

/** Paths as the sandbox runtime takes them: absolute, with `~/`, or relative to the workspace (`.`: itself). */
export interface FileLists {
  readonly allowRead: readonly string[];
  readonly allowWrite: readonly string[];
  readonly denyRead: readonly string[];
  readonly denyWrite: readonly string[];
}

/**
 * Two pairs of lists as rules for files. The deepest entry about reading decides, and at the same path allowing
 * outranks denying; for writing, denying outranks allowing everywhere. A path that may not be written becomes a rule
 * only where it could be: elsewhere the rule would open what Cordon hides.
 */
export function importFileLists(lists: FileLists, homeDir: string, notes: Notes): PolicySettings {
  const listed = Object.fromEntries(
    Object.entries(lists).map(([name, paths]: [string, readonly string[]]) => [name, paths.map(wholeFolder)]),
  ) as unknown as FileLists;
  const files = new Map<string, Access>(listed.denyRead.filter(isGlob).map((glob) => [glob, 'none']));
  const writable: string[] = [];
  const accessAt = evaluator(listed, homeDir);
  for (const name of ['allowWrite', 'allowRead', 'denyWrite', 'denyRead'] as const) {
    for (const path of new Set(listed[name])) {
      if (isGlob(path)) {
        if (name !== 'denyRead') {
          notes.add(`${name} ${path}`, 'Patterns can only hide: name the folder instead.');
        }
        continue;
      }
      const access = accessAt(path);
      const isElsewhere = name === 'denyWrite' && access === 'read' && !couldWrite(path, listed, homeDir);
      if (isElsewhere) {
        notes.add(
          `denyWrite ${path}`,
          'Commands write only in the workspace and in the folders that you add. If it lies there, add it to the files of the profile as "read".',
        );
      } else if (access === 'write') {
        if (path !== '.') {
          writable.push(path);
        }
      } else if (access !== undefined && !(path === '.' && name === 'allowRead')) {
        files.set(path === '.' ? ':workspace' : path, access);
      }
    }
  }
  return {
    ...(writable.length === 0 ? {} : { writableRoots: [...new Set(writable)] }),
    ...(files.size === 0 ? {} : { files: Object.fromEntries(files) }),
  };
}

/** What the four lists say about one of their paths. */
function evaluator(lists: FileLists, homeDir: string): (path: string) => Access {
  const at = (paths: readonly string[]): readonly string[] =>
    paths.filter((path) => !isGlob(path)).map((path) => comparable(path, homeDir));
  const [allowRead, allowWrite, denyRead, denyWrite] = [
    at(lists.allowRead),
    at(lists.allowWrite),
    at(lists.denyRead),
    at(lists.denyWrite),
  ];
  return (path) => {
    const place = comparable(path, homeDir);
    const depth = (paths: readonly string[]): number =>
      Math.max(-1, ...paths.filter((candidate) => isInside(place, candidate)).map(({ length }) => length));
    if (depth(denyRead) > depth(allowRead)) {
      return 'none';
    }
    return depth(allowWrite) >= 0 && depth(denyWrite) < 0 ? 'write' : 'read';
  };
}

function couldWrite(path: string, { allowWrite }: FileLists, homeDir: string): boolean {
  const place = comparable(path, homeDir);
  return (
    isInside(place, workspace) ||
    allowWrite.some((writable) => isInside(place, comparable(writable, homeDir)))
  );
}

/** Stands for the workspace when paths are compared: a name that no path of a settings file has. */
const workspace = '/\0workspace';

function comparable(path: string, homeDir: string): string {
  if (path === '~' || path.startsWith('~/')) {
    return homeDir + path.slice(1);
  }
  return path.startsWith('/') ? path : path === '.' ? workspace : `${workspace}/${path.replace(/^\.\//, '')}`;
}
