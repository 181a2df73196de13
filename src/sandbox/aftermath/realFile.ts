import { closeSync, constants, fchmodSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { errorCode } from '../paths.ts';

const maxBytes = 1 << 20;

/** The bytes of a regular file as Latin-1, so that they can be written back; undefined for anything else. */
export function readRealFile(path: string): string | undefined {
  return onRealFile(path, (descriptor) =>
    fstatSync(descriptor).size <= maxBytes ? readFileSync(descriptor, 'latin1') : undefined,
  );
}

/** Takes the right to be executed from a regular file; false when it is none or had none. */
export function takeExecution(path: string): boolean {
  const isTaken = onRealFile(path, (descriptor) => {
    const { mode } = fstatSync(descriptor);
    if ((mode & 0o111) === 0) {
      return false;
    }
    fchmodSync(descriptor, mode & 0o666);
    return true;
  });
  return isTaken ?? false;
}

/** Without following a link, and without waiting for the other end of a pipe. */
function onRealFile<T>(path: string, action: (descriptor: number) => T): T | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (errorCode(error) === undefined) {
      throw error;
    }
    return undefined;
  }
  try {
    return fstatSync(descriptor).isFile() ? action(descriptor) : undefined;
  } finally {
    closeSync(descriptor);
  }
}
