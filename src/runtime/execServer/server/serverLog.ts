import { openSync, writeSync } from 'node:fs';
import type { Log } from '../../../base/log.ts';
import { silentLog } from '../../../base/log.ts';

/** What a server tells about itself: lines for people, and records for programs. Neither ever holds what is secret. */
export interface ServerLog extends Log {
  record(event: string, fields: Readonly<Record<string, unknown>>): void;
}

export const silentServerLog: ServerLog = { ...silentLog, record() {} };

/** Of a value that a client chose. */
const longestText = 300;

/**
 * A JSON object a line, appended at once to a file that only its owner can read: the last lines before an end are
 * those that are looked for. Throws when it cannot be opened.
 */
export function fileLog(path: string, onError: (error: Error) => void): ServerLog {
  const file = openSync(path, 'a', 0o600);
  let hasFailed = false;
  const record = (event: string, fields: Readonly<Record<string, unknown>>): void => {
    const cut = (_: string, value: unknown) =>
      typeof value === 'string' && value.length > longestText ? `${value.slice(0, longestText)}…` : value;
    try {
      writeSync(file, `${JSON.stringify({ time: new Date().toISOString(), event, ...fields }, cut)}\n`);
    } catch (error) {
      // A full disk: said once, and no reason to end what runs.
      if (!hasFailed) {
        hasFailed = true;
        onError(error as Error);
      }
    }
  };
  const message = (level: string) => (text: string) => record('message', { level, message: text });
  return {
    record,
    debug() {},
    info: message('info'),
    warn: message('warn'),
    error: message('error'),
  };
}
