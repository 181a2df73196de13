import { createWriteStream } from 'node:fs';
import type { Log } from '../../../base/log.ts';
import { silentLog } from '../../../base/log.ts';

/** What a server tells about itself: lines for people, and records for programs. Neither ever holds what is secret. */
export interface ServerLog extends Log {
  record(event: string, fields: Readonly<Record<string, unknown>>): void;
}

export const silentServerLog: ServerLog = { ...silentLog, record() {} };

/** Of a value that a client chose. */
const longestText = 300;

/** A JSON object a line, appended to a file that only its owner can read. */
export function fileLog(path: string, onError: (error: Error) => void): ServerLog {
  const file = createWriteStream(path, { flags: 'a', mode: 0o600 });
  file.on('error', onError);
  const record = (event: string, fields: Readonly<Record<string, unknown>>): void => {
    const cut = (_: string, value: unknown) =>
      typeof value === 'string' && value.length > longestText ? `${value.slice(0, longestText)}…` : value;
    file.write(`${JSON.stringify({ time: new Date().toISOString(), event, ...fields }, cut)}\n`);
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
