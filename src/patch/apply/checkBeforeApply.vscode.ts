import { access, constants } from 'node:fs/promises';
import * as vscode from 'vscode';
import { errorCode } from '../../sandbox/paths.ts';
import type { WriteAccess } from '../../sandbox/writeAccess.ts';
import type { EditorPaths } from '../files/editorPaths.vscode.ts';
import type { Entry, FileSystem } from '../files/fileSystem.ts';
import type { PatchError } from '../patchError.ts';
import { causeOf, cannotRead, fileErrorCode } from '../plan/ioErrors.ts';
import type { FileBefore, PlannedChange } from '../plan/plan.ts';
import { hasCanonicalParent } from './canonicalParent.ts';
import { readOnlyPattern } from './readOnlyRules.ts';

export interface CheckOptions {
  /** The files as planning saw them. */
  readonly files: FileSystem;
  readonly access: WriteAccess;
  readonly paths: EditorPaths;
}

/** What forbids a change now, just before it would be made: the policy, a file that moved on, a file not to be written. */
export async function checkBeforeApply(
  changes: readonly PlannedChange[],
  options: CheckOptions,
): Promise<PatchError | undefined> {
  for (const change of changes) {
    for (const { path, name, expected, isWritten } of touchedPlaces(change)) {
      const error =
        (await refusedByPolicy(path, options.access)) ??
        (await changedSince(path, name, expected, options.files)) ??
        readOnlyInEditor(path, name, options.paths) ??
        (isWritten && expected.entry.kind === 'file'
          ? await readOnlyOnDisk(path, name, expected.entry.mode)
          : undefined);
      if (error !== undefined) {
        return error;
      }
    }
  }
  return undefined;
}

interface TouchedPlace {
  readonly path: string;
  readonly name: string;
  readonly expected: FileBefore | { readonly entry: Entry };
  /** Its content is replaced; removing a file needs no permission of the file itself. */
  readonly isWritten: boolean;
}

const missing = { kind: 'missing' } as const;

function touchedPlaces(change: PlannedChange): readonly TouchedPlace[] {
  const { path, name } = change;
  switch (change.kind) {
    case 'create':
      return [{ path, name, expected: { entry: change.replaces ?? missing }, isWritten: false }];
    case 'update':
      return [{ path, name, expected: change.before, isWritten: true }];
    case 'delete':
      return [{ path, name, expected: change.before, isWritten: false }];
    case 'move':
      return [
        {
          path,
          name,
          expected: change.sourceEntry.kind === 'link' ? { entry: change.sourceEntry } : change.before,
          isWritten: false,
        },
        {
          path: change.toPath,
          name: change.toName,
          expected: change.replaced ?? { entry: missing },
          isWritten: true,
        },
      ];
  }
}

async function refusedByPolicy(path: string, judge: WriteAccess): Promise<PatchError | undefined> {
  const refusal = judge(path);
  if (refusal !== undefined) {
    return { kind: 'access', message: refusal.message, hint: refusal.hint, path };
  }
  if (!(await hasCanonicalParent(path))) {
    return {
      kind: 'access',
      message: `${path} may not be written: a folder on the way to it is a link now, so it lies somewhere else.`,
      hint: 'Plan the patch again.',
      path,
    };
  }
  return undefined;
}

async function changedSince(
  path: string,
  name: string,
  expected: TouchedPlace['expected'],
  files: FileSystem,
): Promise<PatchError | undefined> {
  try {
    const actual = await files.stat(path);
    const isUnchanged =
      isSameEntry(actual, expected.entry) ||
      // Touched, or saved meanwhile, but it says what it said.
      (actual.kind === 'file' && 'bytes' in expected && (await files.read(path)).equals(expected.bytes));
    return isUnchanged ? undefined : stale(path, name, expected.entry);
  } catch (error) {
    return cannotRead(path, causeOf(fileErrorCode(error)));
  }
}

function isSameEntry(actual: Entry, expected: Entry): boolean {
  switch (expected.kind) {
    case 'file':
      return actual.kind === 'file' && actual.version === expected.version;
    case 'link':
      return actual.kind === 'link' && actual.target === expected.target;
    case 'missing':
    case 'folder':
    case 'other':
      return actual.kind === expected.kind;
  }
}

function stale(path: string, name: string, expected: Entry): PatchError {
  return {
    kind: 'stale',
    message:
      expected.kind === 'missing'
        ? `${name} exists now, but did not when the patch was made.`
        : `${name} changed since the patch was planned.`,
    hint: 'Nothing was changed. Read it again and make the patch anew.',
    path,
  };
}

/** The editor would change the text of such a document, and then neither mark nor save it. */
function readOnlyInEditor(path: string, name: string, paths: EditorPaths): PatchError | undefined {
  const uri = paths.uriOf(path);
  const settings = vscode.workspace.getConfiguration('files', uri);
  const patterns = (key: string): Readonly<Record<string, boolean>> =>
    settings.get<Readonly<Record<string, boolean>>>(key, {});
  const pattern = readOnlyPattern(uri.fsPath, {
    include: patterns('readonlyInclude'),
    exclude: patterns('readonlyExclude'),
    folder: vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath,
  });
  return pattern === undefined
    ? undefined
    : readOnly(path, name, `the setting files.readonlyInclude has the pattern "${pattern}"`);
}

async function readOnlyOnDisk(path: string, name: string, mode: number): Promise<PatchError | undefined> {
  if ((mode & 0o222) === 0) {
    return readOnly(path, name, 'its permissions let nobody write it');
  }
  try {
    await access(path, constants.W_OK);
    return undefined;
  } catch (error) {
    // A document that was never saved has no file yet.
    return errorCode(error) === 'ENOENT'
      ? undefined
      : readOnly(path, name, `the system says ${errorCode(error) ?? String(error)}`);
  }
}

function readOnly(path: string, name: string, reason: string): PatchError {
  return {
    kind: 'io.write',
    message: `${name} is read-only: ${reason}.`,
    hint: 'Nothing was changed. Leave the file alone, or ask the person to make it writable.',
    path,
  };
}
