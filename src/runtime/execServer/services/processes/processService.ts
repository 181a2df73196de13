import { constants } from 'node:os';
import { errorCodes, RpcError } from '../../protocol/errors.ts';
import { pathOf } from '../../protocol/fileUri.ts';
import { AnswerBudget } from '../../server/answerBudget.ts';
import type { ServiceFactory } from '../../server/service.ts';
import type { Session } from '../../server/session.ts';
import type { ServedProcess } from './servedProcess.ts';

/**
 * Reads of a connection that wait; a further one is answered as if its time were up. Far fewer than the requests
 * without an answer at which a connection reads no more.
 */
const maxWaitingReads = 256;

/** Bytes of output in answers to reads that the client has not taken; a further one waits. */
const mostInAnswers = 16 * 1024 * 1024;

/** The processes of the session that the connection is attached to. */
export function processService(sessionOf: () => Session): ServiceFactory {
  return (connection) => {
    let waitingReads = 0;
    const answers = new AnswerBudget(mostInAnswers);
    const running = (processId: string): ServedProcess | undefined => {
      const found = sessionOf().processes.find(processId);
      return found === 'starting' ? undefined : found;
    };
    const known = (processId: string): ServedProcess => {
      const found = running(processId);
      if (found === undefined) {
        throw new RpcError(errorCodes.invalidRequest, `unknown process id ${processId}`);
      }
      return found;
    };
    return {
      capabilities: process.platform === 'linux' ? ['networkProxyLaunch', 'networkProxyReviewDomains'] : [],
      handlers: {
        'process/start': (params, { trace }) => sessionOf().start(params, trace),
        'process/read': async (params, { signal, holdUntilTaken }) => {
          await connection.whenWritable();
          const process = known(params.processId);
          const mayWait = waitingReads < maxWaitingReads;
          waitingReads++;
          try {
            return await process.read(mayWait ? params : { ...params, waitMs: 0 }, signal, async (bytes) =>
              holdUntilTaken(await answers.take(bytes, signal)),
            );
          } finally {
            waitingReads--;
          }
        },
        'process/write': async ({ processId, chunk, writeId }) => {
          const bytes = decoded(chunk);
          const process = sessionOf().processes.find(processId);
          if (process === undefined) {
            return { status: 'unknownProcess' };
          }
          return { status: process === 'starting' ? 'starting' : await process.write(writeId, bytes) };
        },
        'process/signal': ({ processId }) => {
          running(processId)?.interrupt();
          return {};
        },
        'process/terminate': ({ processId }) => ({ running: sessionOf().processes.kill(processId) }),
        'cordon/process/list': () => sessionOf().processes.list(),
        'cordon/process/label': ({ processId, label }) => {
          known(processId).setLabel(label);
          return {};
        },
        'cordon/process/resize': ({ processId, columns, rows }) => {
          known(processId).resize({ columns, rows });
          return {};
        },
        'cordon/process/endInput': ({ processId }) => {
          known(processId).endInput();
          return {};
        },
        'cordon/process/signal': ({ processId, signal }) => ({
          delivered: running(processId)?.signal(signalOf(signal)) ?? false,
        }),
        'cordon/process/terminate': ({ processId, graceMs }) => {
          const process = running(processId);
          const isRunning = process?.isRunning ?? false;
          process?.terminate(graceMs);
          return { running: isRunning };
        },
        'cordon/configure': ({ untrustedFolders, trustedPaths, upstream }) => {
          sessionOf().configure({
            untrustedFolders: untrustedFolders.map(pathOf),
            trustedPaths: trustedPaths.map(pathOf),
            ...(upstream !== undefined && { upstream }),
          });
          return {};
        },
      },
    };
  };
}

function decoded(chunk: string): Uint8Array {
  const bytes = Buffer.from(chunk, 'base64');
  // Node passes over what is not base64; whoever sent it meant something else.
  if (bytes.toString('base64') !== chunk) {
    throw new RpcError(errorCodes.invalidParams, 'invalid params of process/write: chunk: not base64');
  }
  return bytes;
}

function signalOf(name: string): NodeJS.Signals {
  if (!Object.hasOwn(constants.signals, name)) {
    throw new RpcError(
      errorCodes.invalidParams,
      `invalid params of cordon/process/signal: signal: ${JSON.stringify(name)} is not a signal here`,
    );
  }
  return name as NodeJS.Signals;
}
