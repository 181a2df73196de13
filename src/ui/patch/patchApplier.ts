import { DisposableStore } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { Log } from '../../base/log.ts';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import { acceptedAccess } from '../../patch/acceptedAccess.ts';
import type { AccessUnder } from '../../patch/accessUnder.ts';
import { UndoKeeper } from '../../patch/apply/undoKeeper.vscode.ts';
import type { Checkpoint } from '../../patch/checkpoint/checkpoint.ts';
import type { CheckpointStore } from '../../patch/checkpoint/checkpointStore.ts';
import { createDiskFileSystem } from '../../patch/files/diskFileSystem.ts';
import { createEditorFileSystem } from '../../patch/files/editorFileSystem.vscode.ts';
import type { FileSystem } from '../../patch/files/fileSystem.ts';
import type { PatchError } from '../../patch/patchError.ts';
import type { AppliedPatch, PatchRequest } from '../../patch/patchHost.ts';
import type { PatchSite } from '../../patch/patchSite.ts';
import { resultPath } from '../../patch/review/reviewFile.ts';
import { applyInEditor } from '../../patch/workspaceEdit.vscode.ts';
import type { WriteAccess } from '../../sandbox/writeAccess.ts';
import { NewDiagnostics } from './newDiagnostics.ts';

export interface PatchApplierOptions {
  readonly log: Log;
  readonly checkpoints: Pick<CheckpointStore, 'record' | 'remove'>;
  readonly accessUnder: AccessUnder;
}

/** Applies plans in the editor, one at a time: checkpoint, documents and disk, then what the editor says about it. */
export class PatchApplier implements Disposable {
  /** The files as the person sees them: unsaved text counts. */
  readonly files: FileSystem;
  readonly #disk = createDiskFileSystem();
  readonly #options: PatchApplierOptions;
  readonly #store = new DisposableStore();
  readonly #undo: UndoKeeper;
  readonly #diagnostics: NewDiagnostics;
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: PatchApplierOptions) {
    this.#options = options;
    this.files = createEditorFileSystem(this.#disk);
    this.#undo = this.#store.add(new UndoKeeper(this.#disk, options.log));
    this.#diagnostics = this.#store.add(new NewDiagnostics());
  }

  /** Applies a plan that the policy allows entirely. */
  apply(request: PatchRequest): Promise<Result<AppliedPatch, PatchError>> {
    return request.site === undefined
      ? this.#apply(request, this.#options.accessUnder(request.policy))
      : this.#applyThere(request, request.site, []);
  }

  /**
   * Applies a plan that a person has looked at and accepted: its refusals are allowed, and no other path than theirs.
   * What an untrusted workspace forbids, no yes allows.
   */
  applyReviewed(request: PatchRequest): Promise<Result<AppliedPatch, PatchError>> {
    const accepted = request.refusals.map(({ path }) => path);
    return request.site === undefined
      ? this.#apply(request, acceptedAccess(this.#options.accessUnder(request.policy), accepted))
      : this.#applyThere(request, request.site, accepted);
  }

  dispose(): void {
    this.#store.dispose();
  }

  #apply(request: PatchRequest, access: WriteAccess): Promise<Result<AppliedPatch, PatchError>> {
    const turn = this.#last.then(() => this.#applyNow(request, access));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Nothing of this machine is touched but the checkpoint, and nothing here has to wait for that one. */
  async #applyThere(
    { title, cwd, policy, plan }: PatchRequest,
    site: PatchSite,
    accepted: readonly string[],
  ): Promise<Result<AppliedPatch, PatchError>> {
    if (plan.changes.length === 0) {
      return ok({ notes: [] });
    }
    const { checkpoints } = this.#options;
    const paths = plan.changes.flatMap((change) => [change.path, resultPath(change)]);
    const view = await site.look({ paths: [...new Set(paths)], policy, withContents: false });
    if (!view.ok) {
      return view;
    }
    const machine = { environment: site.environment, folder: site.folder };
    const elsewhere = { machine, newFolders: view.value.missingFolders };
    let checkpoint: Checkpoint;
    try {
      checkpoint = await checkpoints.record({ title, root: policy.root, cwd, plan, elsewhere });
    } catch (error) {
      return fail(noCheckpoint(error));
    }
    const applied = await site.apply({ plan, policy, accepted });
    if (applied.ok) {
      return ok({ notes: [] });
    }
    // When nobody knows what became of the files, it is what they can be looked at and brought back with.
    if (applied.error.kind !== 'lost') {
      await checkpoints.remove(checkpoint.id);
    }
    return applied;
  }

  async #applyNow(
    { title, cwd, policy, plan }: PatchRequest,
    access: WriteAccess,
  ): Promise<Result<AppliedPatch, PatchError>> {
    if (plan.changes.length === 0) {
      return ok({ notes: [] });
    }
    const { log, checkpoints } = this.#options;
    let checkpoint: Checkpoint;
    try {
      checkpoint = await checkpoints.record({ title, root: policy.root, cwd, plan });
    } catch (error) {
      return fail(noCheckpoint(error));
    }
    const diagnostics = await this.#diagnostics.observe(plan);
    try {
      const applied = await applyInEditor(plan, {
        files: this.files,
        disk: this.#disk,
        access,
        label: title,
        undo: this.#undo,
        log,
      });
      if (!applied.ok) {
        if (applied.error.isRolledBack) {
          await checkpoints.remove(checkpoint.id);
        }
        return fail(applied.error.error);
      }
      const repaired = applied.value.map(
        (name) =>
          `${name}: the person's settings for saving changed it, so its exact content was written again.`,
      );
      return ok({ notes: [...repaired, ...(await diagnostics.report())] });
    } finally {
      diagnostics.dispose();
    }
  }
}

function noCheckpoint(error: unknown): PatchError {
  return {
    kind: 'io.write',
    message: `The checkpoint of the patch could not be written: ${(error as Error).message}`,
    hint: 'Nothing was changed. The person has to make room on the disk, or make the storage of the editor writable.',
  };
}
