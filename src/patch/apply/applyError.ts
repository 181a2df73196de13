import type { WriteRefusal } from '../../sandbox/writeAccess.ts';
import type { FileError } from '../files/fileSystem.ts';
import type { PatchError, PatchErrorKind } from '../patchError.ts';
import { causeOf } from '../plan/ioErrors.ts';
import type { FileStep } from './fileChanges.ts';

export function accessError({ path, message, hint }: WriteRefusal): PatchError {
  return { kind: 'access', message, hint, path };
}

/** A failed step in the reference's words; the hint has the cause, and what became of the files. */
export function applyError(step: FileStep, error: FileError, unrestored: readonly FileError[]): PatchError {
  const { kind, message, path } = describe(step, error);
  const cause = kind === 'stale' ? 'Read it again and make the patch anew' : causeOf(error.code);
  return { kind, message, path, hint: `${cause}. ${outcome([error, ...unrestored])}` };
}

function describe(
  { change, planned }: FileStep,
  error: FileError,
): { readonly kind: PatchErrorKind; readonly message: string; readonly path: string } {
  const { path } = error;
  if (error.code === 'ESTALE') {
    return { kind: 'stale', message: `${path} changed since the patch was planned`, path };
  }
  if (error.operation === 'mkdir') {
    return { kind: 'io.mkdir', message: `Failed to create parent directories for ${path}`, path };
  }
  if (change.kind !== 'write' && path === change.path) {
    return planned.kind === 'move'
      ? { kind: 'io.remove_original', message: `Failed to remove original ${path}`, path }
      : { kind: 'io.delete', message: `Failed to delete file ${path}`, path };
  }
  return { kind: 'io.write', message: `Failed to write file ${path}`, path };
}

function outcome(errors: readonly FileError[]): string {
  const lost = errors.filter(({ savedAs }, index) => index > 0 || savedAs !== undefined);
  if (lost.length === 0) {
    return 'Nothing was changed.';
  }
  const list = lost.map(({ path, code, savedAs }) =>
    savedAs === undefined
      ? `${path} (${code}), which was made by this patch`
      : `${path} (${code}), whose original is saved as ${savedAs}`,
  );
  return `Everything was changed back except: ${list.join('; ')}.`;
}
