import { accessSync, constants } from 'node:fs';

/** What to put before a command whose standard streams come over a connection (`helper/adopt.c`). */
export function adoptingArguments(helperPath: string): string[] {
  return [helperPath, '--adopt', '--'];
}

/**
 * What to put before a command without a sandbox, so that it ends with this process; nothing where the companion
 * program is missing. The command keeps its rights, its terminal, its group and its way to end (`helper/own.c`), and
 * may get another name.
 */
export function ownerArguments(helperPath: string, arg0?: string): string[] {
  try {
    accessSync(helperPath, constants.X_OK);
    return [
      ...[helperPath, '--own', String(process.pid)],
      ...(arg0 === undefined ? [] : ['--arg0', arg0]),
      '--',
    ];
  } catch {
    // Another processor: such a command never needed the companion.
    return [];
  }
}
