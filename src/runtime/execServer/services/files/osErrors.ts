import { constants } from 'node:os';
import { errorCodes, RpcError } from '../../protocol/errors.ts';

/** A failed system call, as Node's own errors about one look. */
export class SystemError extends Error {
  readonly code: keyof typeof constants.errno;

  constructor(code: keyof typeof constants.errno) {
    super(code);
    this.name = 'SystemError';
    this.code = code;
  }
}

/** The error that answers a file call: whatever was thrown, in the protocol's codes and the system's words. */
export function fileError(error: unknown): RpcError {
  if (error instanceof RpcError) {
    return error;
  }
  const code = codeOf(error);
  if (code === undefined) {
    return new RpcError(errorCodes.internal, error instanceof Error ? error.message : String(error));
  }
  return new RpcError(kinds[code] ?? errorCodes.internal, wordsOf(code, error));
}

export function notAFile(path: string): RpcError {
  return new RpcError(errorCodes.invalidRequest, `path \`${path}\` is not a file`);
}

/** The code of a failed system call (`ENOENT`); undefined for any other error. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code in numbers
    ? error.code
    : undefined;
}

/** `Read-only file system (os error 30)`. */
export function wordsOf(code: string, error?: unknown): string {
  const words = texts[code] ?? (error instanceof Error ? error.message : code);
  return `${words} (os error ${numbers[code] ?? 0})`;
}

const numbers: Readonly<Record<string, number>> = constants.errno;

const kinds: Readonly<Record<string, number>> = {
  ENOENT: errorCodes.notFound,
  EACCES: errorCodes.invalidRequest,
  EPERM: errorCodes.invalidRequest,
};

/** As the reference server says them; Node has words of its own. */
const texts: Readonly<Record<string, string>> = {
  EACCES: 'Permission denied',
  EBADF: 'Bad file descriptor',
  EBUSY: 'Resource busy',
  EEXIST: 'File exists',
  EFBIG: 'File too large',
  EINVAL: 'Invalid argument',
  EIO: 'I/O error',
  EISDIR: 'Is a directory',
  ELOOP: 'Symbolic link loop',
  EMFILE: 'No file descriptors available',
  ENAMETOOLONG: 'Filename too long',
  ENFILE: 'Too many open files in system',
  ENODEV: 'No such device',
  ENOENT: 'No such file or directory',
  ENOMEM: 'Out of memory',
  ENOSPC: 'No space left on device',
  ENOTDIR: 'Not a directory',
  ENOTEMPTY: 'Directory not empty',
  ENXIO: 'No such device or address',
  EPERM: 'Operation not permitted',
  EROFS: 'Read-only file system',
  ETXTBSY: 'Text file busy',
  EXDEV: 'Cross-device link',
};
