import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { Result } from '../base/result.ts';
import { fail, ok } from '../base/result.ts';
import type { RefusedCommand } from './places.ts';

/** The shell that a command asks for; the person's own, or one that every machine has, when it asks for none. */
export function findShell(
  wanted: string | undefined,
  { SHELL = '' }: NodeJS.ProcessEnv,
): Result<string, RefusedCommand> {
  const candidates = wanted === undefined ? [SHELL, '/bin/bash', '/bin/sh'] : [wanted];
  const shell = candidates.find((path) => isAbsolute(path) && isExecutable(path));
  return shell === undefined
    ? fail({
        message: `shell ${wanted ?? '/bin/sh'} is not an executable file.`,
        hint: 'Pass the absolute path of an installed shell, such as /bin/bash, or leave shell out.',
      })
    : ok(shell);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
