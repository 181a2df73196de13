import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import type { WriteAccess } from '../../sandbox/writeAccess.ts';
import type { FileSystem, StagedChange } from '../files/fileSystem.ts';
import { FileError } from '../files/fileSystem.ts';
import type { PatchError } from '../patchError.ts';
import type { Plan } from '../plan/plan.ts';
import { refusalsOf } from '../plan/planPatch.ts';
import { accessError, applyError } from './applyError.ts';
import type { FileStep } from './fileChanges.ts';
import { fileStepsOf, pathsOf } from './fileChanges.ts';
import { withTodaysEntries } from './todaysEntries.ts';

/** How long the files may be worked on before others get their turn: a frame of the editor is 16 ms. */
const turnMs = 10;

/**
 * Applies everything or nothing: all changes are prepared before the first is made, and when one fails, those made
 * before are taken back. Writes that `access` refuses now, whatever it said when the patch was planned, fail before
 * anything is prepared. Should a file resist being put back, the error names it and where its original lies.
 */
export async function applyPlan(
  plan: Plan,
  files: FileSystem,
  access: WriteAccess | undefined,
): Promise<Result<void, PatchError>> {
  const steps = fileStepsOf(plan).map((step): StagedStep => ({ ...step, isCommitted: false }));
  const [refusal] = access === undefined ? [] : refusalsOf(plan.changes, access);
  if (refusal !== undefined) {
    return fail(accessError(refusal));
  }
  const pause = turnTaker();
  let current: StagedStep | undefined;
  try {
    const touched = new Set<string>();
    for (current of steps) {
      const paths = pathsOf(current.change);
      // What depends on an earlier step can only be prepared when that is done.
      if (!paths.some((path) => touched.has(path))) {
        await stage(current, files);
        await pause();
      }
      paths.forEach((path) => touched.add(path));
    }
    for (current of steps) {
      await commit(current, files);
      await pause();
    }
  } catch (error) {
    const unrestored = await takeBack(steps);
    if (!(error instanceof FileError) || current === undefined) {
      throw error;
    }
    return fail(applyError(current, error, unrestored));
  }
  for (const { staged } of steps) {
    await releaseQuietly(staged);
    await pause();
  }
  return ok(undefined);
}

interface StagedStep extends FileStep {
  staged?: StagedChange;
  isCommitted: boolean;
}

async function stage(step: StagedStep, files: FileSystem): Promise<void> {
  try {
    step.staged = await files.stage(step.change);
  } catch (error) {
    step.staged = await files.stage(await changeDespite(error, step, files));
  }
}

async function commit(step: StagedStep, files: FileSystem): Promise<void> {
  if (step.staged === undefined) {
    await stage(step, files);
  }
  try {
    await step.staged?.commit();
  } catch (error) {
    const change = await changeDespite(error, step, files);
    await releaseQuietly(step.staged);
    step.staged = await files.stage(change);
    await step.staged.commit();
  }
  step.isCommitted = true;
}

/** The change for files that were touched but say what they said; throws the error when it is about anything else. */
async function changeDespite(error: unknown, step: FileStep, files: FileSystem): Promise<FileStep['change']> {
  const change =
    error instanceof FileError && error.code === 'ESTALE' ? await withTodaysEntries(step, files) : undefined;
  if (change === undefined) {
    throw error;
  }
  return change;
}

/** Undoes in reverse order, as far as it goes; returns what could not be restored. */
async function takeBack(steps: readonly StagedStep[]): Promise<FileError[]> {
  const unrestored: FileError[] = [];
  for (const { staged, isCommitted } of steps.toReversed()) {
    if (!isCommitted) {
      await releaseQuietly(staged);
      continue;
    }
    try {
      await staged?.revert();
    } catch (error) {
      if (!(error instanceof FileError)) {
        throw error;
      }
      unrestored.push(error);
    }
  }
  return unrestored;
}

/** A hidden file that cannot be removed is untidy, but the files are what they have to be. */
async function releaseQuietly(staged: StagedChange | undefined): Promise<void> {
  try {
    await staged?.release();
  } catch (error) {
    if (!(error instanceof FileError)) {
      throw error;
    }
  }
}

function turnTaker(): () => Promise<void> | void {
  let start = performance.now();
  return () => {
    if (performance.now() - start < turnMs) {
      return;
    }
    return nextTurn().then(() => {
      start = performance.now();
    });
  };
}
