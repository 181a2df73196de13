import type { Result } from '../../base/result.ts';
import { fail } from '../../base/result.ts';
import type { Entry } from '../../patch/files/fileSystem.ts';
import { FileError } from '../../patch/files/fileSystem.ts';
import type { PatchError } from '../../patch/patchError.ts';
import type { PatchMachine, SiteView } from '../../patch/patchSite.ts';
import { cannotRead, causeOf } from '../../patch/plan/ioErrors.ts';
import { ConnectionLost } from '../execServer/client/execClient.ts';
import { MalformedAnswer } from '../execServer/client/resultOf.ts';
import { RpcError } from '../execServer/protocol/errors.ts';

/** What is known of the files when the connection breaks before the answer. */
interface Unknown {
  readonly kind: 'machine' | 'lost';
  readonly hint: string;
}

export const unknownNothing: Unknown = { kind: 'machine', hint: 'Nothing was changed. Try it again.' };
export const unknownWhole: Unknown = {
  kind: 'lost',
  hint: 'Read the files before you go on: all of the patch was applied, or nothing of it.',
};
export const unknownParts: Unknown = {
  kind: 'lost',
  hint: 'Read the files before you go on: some of them may have been changed, and others not.',
};

export const unknownRest: Unknown = {
  kind: 'lost',
  hint: 'The files are restored. Look whether folders that the patch made are left, and links are missing.',
};

/** The answer of that machine; that there is none, and why, is one, too. */
export async function answered<T>(
  { environment }: PatchMachine,
  { kind, hint }: Unknown,
  question: () => Promise<Result<T, PatchError>>,
): Promise<Result<T, PatchError>> {
  try {
    return await question();
  } catch (error) {
    if (error instanceof ConnectionLost) {
      const message = `The connection to ${environment} broke before the answer (${error.message}).`;
      return fail({ kind, message, hint });
    }
    if (error instanceof MalformedAnswer) {
      return fail({ kind, message: error.message, hint });
    }
    if (error instanceof FileError) {
      return fail(cannotRead(error.path, causeOf(error.code)));
    }
    if (error instanceof RpcError) {
      return fail({ kind: 'machine', message: error.message, hint: 'Nothing was changed.' });
    }
    throw error;
  }
}

export interface SeenFile {
  readonly path: string;
  readonly entry: Entry;
  readonly bytes: Buffer;
}

export function seenFiles(seen: readonly SeenFile[]): SiteView['files'] {
  const known = (operation: 'stat' | 'read', path: string): SeenFile => {
    const found = seen.find((file) => file.path === path);
    if (found === undefined) {
      throw new FileError(operation, path, 'ENOENT');
    }
    return found;
  };
  return {
    stat: async (path) => known('stat', path).entry,
    read: async (path) => known('read', path).bytes,
  };
}
