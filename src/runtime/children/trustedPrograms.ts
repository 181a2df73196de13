import { realpath } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { findExecutable } from '../exec/findExecutable.ts';

/** Whether nobody but the person and the machine's owner changes what is at a canonical path. */
export type IsTrusted = (path: string) => boolean;

/** The folders of a search path from which no command can have planted a program. */
export async function trustedSearchPath(path: string, isTrusted: IsTrusted): Promise<string> {
  const folders = await Promise.all(
    path
      .split(':')
      .filter(isAbsolute)
      .map((folder) => realpath(folder).catch(() => undefined)),
  );
  return folders.filter((folder) => folder !== undefined && isTrusted(folder)).join(':');
}

/** The program of that name on a trusted search path; undefined when there is none, or it leads to an untrusted place. */
export async function trustedProgram(
  name: string,
  searchPath: string,
  isTrusted: IsTrusted,
): Promise<string | undefined> {
  const found = name.includes('/') ? undefined : await findExecutable(name, '/', searchPath);
  return found?.ok === true && isTrusted(await realpath(found.value)) ? found.value : undefined;
}
