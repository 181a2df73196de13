import { copyFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { helperPath, nodePath } from '../escape/harness.ts';

/** The worker of file calls, as `npm run build` leaves it, where commands in the sandbox can see it. */
export const workerPath = join(dirname(dirname(helperPath)), 'fileWorker.js');

export function bringWorker(): void {
  copyFileSync(join(import.meta.dirname, '../../dist/cli/fileWorker.js'), workerPath);
}

/** As `cordon file-worker`. */
export const workerArgv: readonly string[] = [
  nodePath,
  '-e',
  `require(${JSON.stringify(workerPath)}).runFileWorker()`,
];

export const judgeFacts = { temporaryFolders: ['/tmp', '/var/tmp'], trustedPaths: [] };
