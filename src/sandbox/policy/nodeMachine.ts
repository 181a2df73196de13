import { readdirSync, realpathSync, statSync } from 'node:fs';
import { homedir, totalmem } from 'node:os';
import { repositoryAround } from '../git/repositoryAround.ts';
import { errorCode } from '../paths.ts';
import type { PolicyMachine } from './input.ts';

/** This machine, as policies see it. */
export function nodeMachine(searchPath: string = process.env['PATH'] ?? ''): PolicyMachine {
  return {
    homeDir: homedir(),
    searchPath,
    memoryMiB: Math.floor(totalmem() / 2 ** 20),
    canonicalize,
    listFolder: (path) => whereAllowed(() => readdirSync(path)) ?? [],
    repositoryAround,
  };
}

/** The canonical path of what exists on this machine. */
export function canonicalize(path: string): string | undefined {
  // Most paths that are asked about do not exist, and an exception for each would cost more than all the rest.
  return whereAllowed(() =>
    statSync(path, { throwIfNoEntry: false }) === undefined ? undefined : realpathSync.native(path),
  );
}

/** Undefined where there is nothing, or nobody may look: either way there is nothing to point at. */
function whereAllowed<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (errorCode(error) === undefined) {
      throw error;
    }
    return undefined;
  }
}
