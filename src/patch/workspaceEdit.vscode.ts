import type { Log } from '../base/log.ts';
import type { Result } from '../base/result.ts';
import { fail, ok } from '../base/result.ts';
import type { WriteAccess } from '../sandbox/writeAccess.ts';
import { applyPlan } from './apply/applyPlan.ts';
import { checkBeforeApply } from './apply/checkBeforeApply.vscode.ts';
import { prepareEditorPart } from './apply/editorPart.vscode.ts';
import type { EditorPart } from './apply/editorPart.vscode.ts';
import { routeChanges } from './apply/routePlan.vscode.ts';
import type { RoutedChanges } from './apply/routePlan.vscode.ts';
import type { UndoKeeper } from './apply/undoKeeper.vscode.ts';
import type { EditorPaths } from './files/editorPaths.vscode.ts';
import { readEditorPaths } from './files/editorPaths.vscode.ts';
import type { FileSystem } from './files/fileSystem.ts';
import { FileError } from './files/fileSystem.ts';
import type { PatchError } from './patchError.ts';
import { causeOf, cannotRead } from './plan/ioErrors.ts';
import type { Plan } from './plan/plan.ts';

export interface EditorApplyOptions {
  /** The files as the plan saw them. */
  readonly files: FileSystem;
  readonly disk: FileSystem;
  readonly access: WriteAccess;
  /** How the undo step is called. */
  readonly label: string;
  readonly undo: UndoKeeper;
  readonly log: Log;
}

/** Why a plan was not applied. */
export interface FailedApply {
  readonly error: PatchError;
  /** False when something could not be changed back; the error names it. */
  readonly isRolledBack: boolean;
}

/**
 * Applies a plan through one `WorkspaceEdit`, saved and compared with the plan, and through the byte-exact engine where
 * the editor would do damage. Everything or nothing: after a failure, documents and disk are what they were. Gives
 * the names of the files whose bytes had to be written once more, because the person's settings changed them on save.
 */
export async function applyInEditor(
  plan: Plan,
  options: EditorApplyOptions,
): Promise<Result<readonly string[], FailedApply>> {
  const { files, disk, access, label, log } = options;
  const paths = await readEditorPaths();
  const forbidden = await checkBeforeApply(plan.changes, { files, access, paths });
  if (forbidden !== undefined) {
    return fail({ error: forbidden, isRolledBack: true });
  }
  const routed = await routeChanges(plan.changes, paths, log);
  if (!routed.ok) {
    return fail({ error: routed.error, isRolledBack: true });
  }
  let part: EditorPart | undefined;
  try {
    part = await prepareEditorPart({ routed: routed.value, paths, disk, label });
    const error =
      (await part.apply()) ?? (await applyByEngine({ ...plan, changes: routed.value.engine }, options));
    if (error !== undefined) {
      return fail(await rollBack(part, error, log));
    }
  } catch (error) {
    if (!(error instanceof FileError)) {
      await part?.rollBack();
      throw error;
    }
    return fail(await rollBack(part, cannotRead(error.path, causeOf(error.code)), log));
  }
  watchUndo(routed.value, paths, options.undo);
  return ok(part.repaired);
}

async function applyByEngine(
  plan: Plan,
  { disk, access }: EditorApplyOptions,
): Promise<PatchError | undefined> {
  if (plan.changes.length === 0) {
    return undefined;
  }
  const applied = await applyPlan(plan, disk, access);
  return applied.ok ? undefined : applied.error;
}

async function rollBack(part: EditorPart | undefined, error: PatchError, log: Log): Promise<FailedApply> {
  const problems = (await part?.rollBack()) ?? [];
  const message = [error.message, ...problems].join(' ');
  log.warn(`rolled back a patch: ${message}`);
  if (problems.length === 0) {
    return { error, isRolledBack: true };
  }
  const hint =
    'Everything else was changed back. The checkpoint of this patch has what the files were: the person can restore it with "Cordon: Restore Checkpoint…".';
  return { error: { ...error, message, hint }, isRolledBack: false };
}

function watchUndo({ updates, operations }: RoutedChanges, paths: EditorPaths, undo: UndoKeeper): void {
  for (const update of updates) {
    if (!update.wasDirty) {
      undo.watch(update);
    }
  }
  for (const change of operations) {
    if (change.kind === 'delete' && change.before.entry.kind === 'file') {
      undo.watchDeleted(paths.uriOf(change.path), change.before.entry.mode);
    }
  }
}
