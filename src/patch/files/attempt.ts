import { errorCode } from '../../sandbox/paths.ts';
import type { FileOperation } from './fileSystem.ts';
import { FileError } from './fileSystem.ts';

/** Turns a failed system call into a {@link FileError} about the path; one from further inside is passed on. */
export function attempt<T>(operation: FileOperation, path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    const code = errorCode(error);
    throw error instanceof FileError || code === undefined
      ? error
      : new FileError(operation, path, code, { cause: error });
  }
}

/** A failure found without a system call, to be told like one. */
export class RefusedCall extends Error {
  readonly code: string;

  constructor(code: 'ESTALE' | 'EISDIR' | 'EEXIST' | 'ENOENT', message: string) {
    super(message);
    this.code = code;
  }
}
