import type { Stats } from 'node:fs';
import { accessSync, constants, statSync } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import type { Launch } from '../../sandbox/sandboxManager.ts';
import type { SpawnError } from './execBackend.ts';

/** The whole argv of a launch, its programs found. Fails as {@link findExecutable} does. */
export async function startableArgv(
  launch: Launch,
): Promise<Result<readonly [string, ...string[]], SpawnError>> {
  const [file, ...args] = launch.argv as [string, ...string[]];
  const found = await findExecutable(file, launch.cwd, launch.env['PATH'] ?? '');
  return found.ok ? ok([...launch.owner, found.value, ...args] as [string, ...string[]]) : found;
}

/**
 * Finds the file that a program name means: a name with a slash is taken from `cwd`, a bare one searched on `path`.
 * Fails with `spawn-not-found`, or `spawn-permission-denied` when only files that may not be executed were found, or
 * a folder.
 */
export async function findExecutable(
  name: string,
  cwd: string,
  path: string,
): Promise<Result<string, SpawnError>> {
  const isPath = name.includes('/');
  const candidates = isPath
    ? [resolve(cwd, name)]
    : path
        .split(':')
        .filter(isAbsolute)
        .map((folder) => join(folder, name));
  let isFound = false;
  let isFolder = false;
  for (const candidate of candidates) {
    const entry = isPath ? statNow(candidate) : await stat(candidate).catch(() => undefined);
    if (entry?.isFile() !== true) {
      isFolder ||= entry?.isDirectory() === true && isPath;
      continue;
    }
    isFound = true;
    if (isPath ? mayExecuteNow(candidate) : await mayExecute(candidate)) {
      return ok(candidate);
    }
  }
  if (isFolder) {
    const kind = 'spawn-permission-denied';
    return fail({ kind, message: `${name} is a folder.`, hint: 'Name a program in it.' });
  }
  return fail(
    isFound
      ? {
          kind: 'spawn-permission-denied',
          message: `${name} may not be executed.`,
          hint: `Make it executable (chmod +x ${name}) or run it with its interpreter.`,
        }
      : {
          kind: 'spawn-not-found',
          message: `${name} was not found.`,
          hint: isPath ? 'Check the path.' : `Install it, or pass its full path. PATH is ${path || 'empty'}.`,
        },
  );
}

// One path costs less than handing it to another thread does; the folders of a search path may be slow ones.
function statNow(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function mayExecuteNow(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function mayExecute(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
