import { accessSync, constants } from 'node:fs';

/**
 * What to put before a command without a sandbox, so that it ends with this process; nothing where the companion
 * program is missing. The command keeps its rights, its terminal, its group and its way to end (`helper/own.c`).
 */
export function ownerArguments(helperPath: string): string[] {
  try {
    accessSync(helperPath, constants.X_OK);
    return [helperPath, '--own', String(process.pid), '--'];
  } catch {
    // Another processor: such a command never needed the companion.
    return [];
  }
}
