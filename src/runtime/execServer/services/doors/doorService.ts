import { errorCodes } from '../../protocol/errors.ts';
import type { Handlers } from '../../server/service.ts';
import type { Session } from '../../server/session.ts';
import { decodeBase64 } from '../files/base64.ts';

/** What the client says to those who came through doors of its processes. */
export function doorHandlers(sessionOf: () => Session): Handlers {
  return {
    'cordon/door/send': ({ connectionId, chunk }) => {
      sessionOf().doors.send(connectionId, decodeBase64(chunk, invalidChunk, errorCodes.invalidParams));
      return {};
    },
    'cordon/door/close': ({ connectionId }) => {
      sessionOf().doors.close(connectionId);
      return {};
    },
    'cordon/door/isHeld': async ({ processId, path }) => ({
      isHeld: await sessionOf().doors.isHeld(processId, path),
    }),
  };
}

const invalidChunk = 'invalid params of cordon/door/send: chunk: ';
