import type { Readable, Writable } from 'node:stream';
import type { RpcError } from '../../../protocol/errors.ts';
import { linesTransport } from '../../../transport/lines.ts';
import { FileMethods } from '../fileMethods.ts';
import { policyJudge } from '../policyJudge.ts';
import type { WorkerMessage, WorkerRequest, WorkerSetup } from './workerMessages.ts';

/** Serves file calls from inside a sandbox, until its input ends. */
export function serveFiles(input: Readable, output: Writable): Promise<void> {
  const lines = linesTransport(input, output, 'file worker');
  const send = (message: WorkerMessage): void => lines.send(JSON.stringify(message));
  let methods: FileMethods | undefined;
  const serve = async ({ id, method, params }: WorkerRequest, files: FileMethods): Promise<void> => {
    try {
      if (method === 'endWatch') {
        files.endWatch();
        send({ id, result: {} });
      } else {
        send({ id, result: await files.call(method, params as never) });
      }
    } catch (error) {
      const { code, message } = error as RpcError;
      send({ id, error: { code, message } });
    }
  };
  lines.onMessage((text) => {
    const message = JSON.parse(text) as WorkerSetup | WorkerRequest;
    if ('policy' in message) {
      const { policy, facts } = message;
      methods = new FileMethods({
        judge: () => policyJudge(policy, facts),
        missingChanged: (event) => send({ missingChanged: event }),
      });
    } else if (methods !== undefined) {
      void serve(message, methods);
    }
  });
  return new Promise((resolve) => {
    lines.onClose(() => {
      methods?.dispose();
      resolve();
    });
    lines.resume();
  });
}
