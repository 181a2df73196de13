import { realpath } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { findExecutable } from '../exec/findExecutable.ts';

/** Whether nobody but the person and the machine's owner changes what is at a canonical path. */
export type IsTrusted = (path: string) => Promise<boolean>;

/** The folders of a search path from which no command can have planted a program. */
export async function trustedSearchPath(path: string, isTrusted: IsTrusted): Promise<string> {
  const folders = await Promise.all(
    path
      .split(':')
      .filter(isAbsolute)
      .map(async (folder) => {
        const real = await realpath(folder).catch(() => undefined);
        return real !== undefined && (await isTrusted(real)) ? [real] : [];
      }),
  );
  return folders.flat().join(':');
}

/** The program of that name on a trusted search path; undefined when there is none, or it leads to an untrusted place. */
export async function trustedProgram(
  name: string,
  searchPath: string,
  isTrusted: IsTrusted,
): Promise<string | undefined> {
  const found = name.includes('/') ? undefined : await findExecutable(name, '/', searchPath);
  return found?.ok === true && (await isTrusted(await realpath(found.value))) ? found.value : undefined;
}
