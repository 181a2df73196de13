import { isAbsolute, join, normalize } from 'node:path';
import type { Access } from '../../../../sandbox/policy/fileRules.ts';
import type { Location } from '../../../../sandbox/policy/files/locate.ts';
import { locate } from '../../../../sandbox/policy/files/locate.ts';
import { locationsOf } from '../../../../sandbox/policy/files/places.ts';
import { isInside } from '../../../../sandbox/paths.ts';
import { errorCodes, RpcError } from '../../protocol/errors.ts';
import { pathOf } from '../../protocol/fileUri.ts';
import type { PermissionEntry, SandboxContext } from '../../protocol/sandboxContext.ts';
import type { ContextMachine } from './contextMachine.ts';

/** One path of this machine that an entry stands for. */
export interface EntryTarget extends Location {
  readonly access: Access;
  /** How the entry names it. */
  readonly writtenAs: string;
  /** Where links lie over which it is reached. */
  readonly links: readonly string[];
  /** It was to be below one of the roots, and links lead it elsewhere. */
  readonly leavesRoot: boolean;
  /** Nothing is said about it while it is missing. */
  readonly skipsMissing: boolean;
}

/** The places that a context's words are relative to, as written: nothing is resolved. */
export interface ContextPlaces {
  readonly cwd: string | undefined;
  readonly roots: readonly string[];
  readonly temporaryDirectories: readonly string[];
}

/** `policyContext` wins over the older members; the process's own folder is the last resort. */
export function placesOf(
  context: SandboxContext,
  cwd: string | undefined,
  machine: ContextMachine,
): ContextPlaces {
  const { policyContext, temporaryDirectories } = context;
  const uri = policyContext?.cwd ?? context.cwd;
  return {
    cwd: typeof uri === 'string' ? pathOf(uri) : cwd,
    roots: (policyContext?.workspaceRoots ?? context.workspaceRoots).map(pathOf),
    temporaryDirectories: temporaryDirectories?.map(pathOf) ?? machine.temporaryDirectories,
  };
}

type Special = Extract<PermissionEntry['path'], { readonly type: 'special' }>['value'];

/** What an entry for a path or a special place stands for here; nothing for what this machine does not have. */
export function targetsOf(
  entry: PermissionEntry,
  places: ContextPlaces,
  machine: ContextMachine,
): readonly EntryTarget[] {
  const { path, access } = entry;
  const describe = (lexical: string, writtenAs: string, root?: string): EntryTarget => {
    const location = locate(lexical, machine);
    return {
      ...location,
      access: accessOf(access),
      writtenAs,
      links: machine.linksTo(lexical),
      leavesRoot: root !== undefined && !isInside(location.path, locate(root, machine).path),
      skipsMissing: entry.missing_path_behavior === 'skip',
    };
  };
  if (path.type === 'path') {
    const lexical = withoutEnd(pathOf(path.path));
    return [describe(lexical, lexical)];
  }
  if (path.type === 'glob_pattern') {
    return [];
  }
  const { kind, subpath } = path.value;
  const below = subpathOf(path.value);
  const name = below === '' ? kind : `${kind}/${below}`;
  const inFolders = (folders: readonly string[]): readonly EntryTarget[] =>
    folders.map((folder) =>
      describe(withoutEnd(join(folder, below)), name, below === '' ? undefined : folder),
    );
  switch (kind) {
    case 'root':
      return [describe('/', name)];
    case 'minimal':
      return minimal(machine).map((folder) => describe(folder, name));
    case 'current_working_directory':
      return inFolders(places.cwd === undefined ? [] : [places.cwd]);
    case 'project_roots':
      return inFolders(places.roots);
    case 'tmpdir':
      return inFolders(places.temporaryDirectories);
    case 'slash_tmp':
      return inFolders(['/tmp']);
    case 'unknown':
      return unknownPlace(access, subpath);
  }
}

export function accessOf(access: PermissionEntry['access']): Access {
  return access === 'deny' ? 'none' : access;
}

function subpathOf({ kind, subpath }: Special): string {
  if (typeof subpath !== 'string' || kind === 'unknown') {
    return '';
  }
  if (kind !== 'project_roots' && kind !== 'current_working_directory') {
    throw invalid(`the place ${kind} takes no subpath, but has "${subpath}"`);
  }
  const path = withoutEnd(normalize(subpath));
  if (isAbsolute(path) || path === '..' || path.startsWith('../') || path.includes('\0')) {
    throw invalid(`the subpath "${subpath}" of ${kind} must be relative and stay below it`);
  }
  return path === '.' ? '' : path;
}

/** A place that is known elsewhere: giving less than asked for is safe, protecting less is not. */
function unknownPlace(access: PermissionEntry['access'], subpath: string | null | undefined): readonly [] {
  if (access !== 'write') {
    const name = typeof subpath === 'string' ? ` ("${subpath}")` : '';
    throw invalid(`an unknown special place${name} cannot be kept to "${access}" on this machine`);
  }
  return [];
}

/** The operating system's own programs, libraries and settings. */
function minimal(machine: ContextMachine): readonly string[] {
  return locationsOf(':minimal', { ...machine, root: '/' }).map(({ path }) => path);
}

function withoutEnd(path: string): string {
  return path.length > 1 ? path.replace(/\/+$/, '') || '/' : path;
}

export function invalid(problem: string): RpcError {
  return new RpcError(errorCodes.invalidParams, `sandbox: ${problem}`);
}
