import { serveFiles } from '../runtime/execServer/services/files/worker/serveFiles.ts';

/** `cordon file-worker`: does the file calls of an exec-server from inside a sandbox. Not for people. */
export async function runFileWorker(): Promise<number> {
  await serveFiles(process.stdin, process.stdout);
  return 0;
}
