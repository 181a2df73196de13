import * as vscode from 'vscode';
import type { Result } from '../../base/result.ts';
import { ok } from '../../base/result.ts';
import type { AccessUnder } from '../../patch/accessUnder.ts';
import type { Checkpoint } from '../../patch/checkpoint/checkpoint.ts';
import type { CheckpointStore } from '../../patch/checkpoint/checkpointStore.ts';
import { completeRestore } from '../../patch/checkpoint/completeRestore.ts';
import { planRestore } from '../../patch/checkpoint/restore.ts';
import type { Restore, RestoredFile } from '../../patch/checkpoint/restore.ts';
import type { FileSystem } from '../../patch/files/fileSystem.ts';
import type { PatchError } from '../../patch/patchError.ts';
import type { PatchRequest, ReviewOutcome } from '../../patch/patchHost.ts';
import type { PatchSite } from '../../patch/patchSite.ts';
import { formatPatchError } from '../../patch/plan/formatPatchError.ts';
import { planFromContents } from '../../patch/plan/planFromContents.ts';
import type { ReviewPlace } from '../../patch/review/planAnew.ts';
import type { WriteAccess, WriteRefusal } from '../../sandbox/writeAccess.ts';
import type { PatchReviews } from '../patch/editorPatchHost.ts';
import type { PatchApplier } from '../patch/patchApplier.ts';
import { placeOfPatch } from '../review/reviewPlaces.ts';
import type { PatchPlaces } from '../review/reviewPlaces.ts';
import { withoutLinks } from '../oneLine.ts';

export interface RestoreDependencies {
  readonly checkpoints: CheckpointStore;
  readonly applier: PatchApplier;
  readonly places: PatchPlaces;
  readonly accessUnder: AccessUnder;
  readonly reviews?: Pick<PatchReviews, 'open'> | undefined;
}

/**
 * Brings the files of a checkpoint back to what they were. What was edited since is merged; where that is not possible
 * nothing is written, and a review shows the conflicts.
 */
export async function restoreCheckpoint(
  checkpoint: Checkpoint,
  dependencies: RestoreDependencies,
): Promise<void> {
  const { applier, checkpoints } = dependencies;
  const seen = await lookAt(checkpoint, dependencies);
  if (!seen.ok) {
    void vscode.window.showErrorMessage(withoutLinks(formatPatchError(seen.error)));
    return;
  }
  const restore = await planRestore(checkpoint, {
    files: seen.value.files,
    content: (hash) => checkpoints.content(hash),
  });
  if (!restore.ok) {
    void vscode.window.showErrorMessage(withoutLinks(formatPatchError(restore.error)));
    return;
  }
  if (restore.value.files.length === 0) {
    void vscode.window.showInformationMessage('The files are what they were before this patch already.');
    return;
  }
  const request = requestOf(checkpoint, restore.value, seen.value);
  if (restore.value.files.some(({ outcome }) => outcome === 'conflict')) {
    await reviewConflicts(checkpoint, restore.value, request, dependencies.reviews);
  } else {
    await apply(checkpoint, restore.value, request, applier);
  }
}

/** The files of a checkpoint where they are, and what its restore has to know. */
interface Seen extends ReviewPlace {
  readonly files: Pick<FileSystem, 'stat' | 'read'>;
  readonly access: WriteAccess;
}

async function lookAt(
  checkpoint: Checkpoint,
  { places, applier, accessUnder }: RestoreDependencies,
): Promise<Result<Seen, PatchError>> {
  const place = await placeOfPatch(checkpoint, places);
  if (!place.ok) {
    return place;
  }
  const { policy, site } = place.value;
  if (site === undefined) {
    return ok({ policy, files: applier.files, access: accessUnder(policy) });
  }
  const paths = checkpoint.files.map(({ path }) => path);
  const view = await site.look({ paths, policy, withContents: true });
  if (!view.ok) {
    return view;
  }
  const { files, refusals } = view.value;
  return ok({ policy, site, files, access: (path) => refusals.find((refusal) => refusal.path === path) });
}

function requestOf(checkpoint: Checkpoint, restore: Restore, { policy, site, access }: Seen): PatchRequest {
  const refusals = restore.files.map(({ path }) => access(path));
  return {
    title: checkpoint.title.startsWith(titlePrefix) ? checkpoint.title : titlePrefix + checkpoint.title,
    cwd: checkpoint.cwd,
    policy,
    site,
    plan: planFromContents(
      restore.files.map(({ path, name, current, content, mode }) => ({
        path,
        name,
        before: current,
        after: content,
        mode,
      })),
    ),
    // The person asks for it: that is the yes that these writes need.
    refusals: refusals.filter((refusal): refusal is WriteRefusal => refusal !== undefined),
  };
}

async function apply(
  checkpoint: Checkpoint,
  { files }: Restore,
  request: PatchRequest,
  applier: PatchApplier,
): Promise<void> {
  const applied = await applier.applyReviewed(request);
  if (!applied.ok) {
    void vscode.window.showErrorMessage(withoutLinks(failureWords(applied.error)));
    return;
  }
  await complete(checkpoint, files, request.site);
  const merged = files.filter(({ outcome }) => outcome === 'merged');
  const what = `Restored ${files.length === 1 ? namesOf(files) : `${files.length} files`}`;
  if (merged.length > 0) {
    void vscode.window.showInformationMessage(
      withoutLinks(`${what}. Edited since, and merged: ${namesOf(merged)}.`),
    );
  } else {
    vscode.window.setStatusBarMessage(`${what}.`, statusMs);
  }
}

function failureWords(error: PatchError): string {
  return `${error.kind === 'lost' ? '' : 'Nothing was restored. '}${formatPatchError(error)}`;
}

const titlePrefix = 'Restore of ';

const statusMs = 5000;

async function reviewConflicts(
  checkpoint: Checkpoint,
  { files }: Restore,
  request: PatchRequest,
  reviews: RestoreDependencies['reviews'],
): Promise<void> {
  const conflicts = files.filter(({ outcome }) => outcome === 'conflict');
  const reason = `${namesOf(conflicts)} ${conflicts.length === 1 ? 'was' : 'were'} edited in the same places since the patch`;
  if (reviews === undefined) {
    void vscode.window.showErrorMessage(withoutLinks(`Nothing was restored: ${reason}.`));
    return;
  }
  void vscode.window.showWarningMessage(
    withoutLinks(
      `Nothing was restored yet: ${reason}. The patch review “${request.title}” shows the conflicts.`,
    ),
  );
  const outcome = await reviews.open(request, new AbortController().signal);
  switch (outcome.kind) {
    case 'obsolete':
    case 'failed':
      void vscode.window.showErrorMessage(withoutLinks(failureWords(outcome.error)));
      break;
    case 'decided':
      await complete(checkpoint, acceptedFiles(files, outcome), request.site);
      break;
    case 'abandoned':
      break;
  }
}

function acceptedFiles(
  files: readonly RestoredFile[],
  outcome: ReviewOutcome & { readonly kind: 'decided' },
): readonly RestoredFile[] {
  const rejected = new Set(
    outcome.files.filter(({ decision }) => decision === 'rejected').map(({ name }) => name),
  );
  return files.filter(({ name }) => !rejected.has(name));
}

async function complete(
  { newFolders }: Checkpoint,
  files: readonly RestoredFile[],
  site: PatchSite | undefined,
): Promise<void> {
  const rest = { newFolders, files };
  const completed = await (site === undefined ? completeRestore(rest).then(ok) : site.completeRestore(rest));
  const problems = completed.ok ? completed.value : [formatPatchError(completed.error)];
  if (problems.length > 0) {
    void vscode.window.showErrorMessage(withoutLinks(problems.join(' ')));
  }
}

function namesOf(files: readonly RestoredFile[]): string {
  return files.map(({ name }) => name).join(', ');
}
