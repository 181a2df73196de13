import { getSystemErrorMap } from 'node:util';
import type { ReadRefusal } from '../../sandbox/readAccess.ts';
import { FileError } from '../files/fileSystem.ts';
import type { PatchError } from '../patchError.ts';

/** Why a file cannot be used, in the words of the reference's platform. */
const causes: Readonly<Record<string, string>> = {
  ENOENT: 'No such file or directory (os error 2)',
  EACCES: 'Permission denied (os error 13)',
  EPERM: 'Operation not permitted (os error 1)',
  ENOTDIR: 'Not a directory (os error 20)',
  EISDIR: 'Is a directory (os error 21)',
  ELOOP: 'Symbolic link loop (os error 40)',
  // Of files that are open in the editor with unsaved changes.
  EILSEQ:
    'Its unsaved text has characters that its encoding cannot write. Save it with another encoding first',
  EBUSY:
    'It is open in the editor by several names, with unsaved changes in each. Save or revert all but one first',
};

export function causeOf(code: string): string {
  return causes[code] ?? systemWords(code);
}

function systemWords(code: string): string {
  const words = [...getSystemErrorMap().values()].find(([name]) => name === code)?.[1];
  return words === undefined ? code : `${words[0]?.toUpperCase()}${words.slice(1)} (${code})`;
}

export function cannotRead(path: string, cause: string): PatchError {
  return { kind: 'io.read', path, message: `Failed to read file to update ${path}: ${cause}` };
}

/** A file that commands may not read either: its lines would reach the model in an answer. */
export function notReadable(path: string, { clause, message, hint }: ReadRefusal): PatchError {
  return {
    kind: 'access',
    path,
    message: `Failed to read file to update ${path}: ${message} (clause: ${clause})`,
    hint,
  };
}

/** For whatever is asked of a file, the reference names the file only: the cause goes into the hint. */
export function cannot(kind: 'io.write' | 'io.mkdir' | 'io.delete', path: string, cause: string): PatchError {
  const sentence = {
    'io.write': 'Failed to write file',
    'io.mkdir': 'Failed to create parent directories for',
    'io.delete': 'Failed to delete file',
  }[kind];
  return { kind, path, message: `${sentence} ${path}`, hint: `${cause}. Nothing was changed.` };
}

/** The code of a failed file access; bugs are thrown on. */
export function fileErrorCode(error: unknown): string {
  if (error instanceof FileError) {
    return error.code;
  }
  throw error;
}
