import { open, lstat, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { AuditEntry } from './auditEntry.ts';
import { auditEntrySchema } from './auditEntry.ts';
import { processIdentity } from './processIdentity.ts';

/** A file of the log, as the folder shows it. */
export interface AuditFileInfo {
  readonly path: string;
  /** The writer's: the same in every file of one. */
  readonly writer: string;
  readonly size: number;
  /** Milliseconds since 1970; no entry in it is newer. */
  readonly modifiedAt: number;
}

export interface AuditLimits {
  /** A file that would become larger is followed by another. */
  readonly maxFileBytes: number;
  /** Of all files, looked at whenever one is begun. */
  readonly maxTotalBytes: number;
  readonly maxAgeMs: number;
}

export const defaultAuditLimits: AuditLimits = {
  maxFileBytes: 4 * 1024 * 1024,
  maxTotalBytes: 64 * 1024 * 1024,
  maxAgeMs: 90 * 24 * 60 * 60_000,
};

const namePattern = /^audit-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z-([0-9a-f]{12})\.jsonl$/;
/** A `start` entry is shorter. */
const headBytes = 1024;

/** `writer`: 12 hexadecimal digits. Names sort by time. */
export function auditFileName(time: number, writer: string): string {
  return `audit-${new Date(time).toISOString().replaceAll(/[:.]/g, '-')}-${writer}.jsonl`;
}

/** The files of a log, oldest first; none when the folder is not there. What else lies in it is passed by. */
export async function listAuditFiles(folder: string): Promise<readonly AuditFileInfo[]> {
  const names = await readdir(folder).catch(nothingIfMissing<string[]>([]));
  const files = names.sort().flatMap((name) => {
    const writer = namePattern.exec(name)?.[1];
    return writer === undefined ? [] : [{ path: join(folder, name), writer }];
  });
  const infos = files.map(async (file) => {
    const stats = await lstat(file.path).catch(nothingIfMissing(undefined));
    return stats?.isFile() === true ? [{ ...file, size: stats.size, modifiedAt: stats.mtimeMs }] : [];
  });
  return (await Promise.all(infos)).flat();
}

/**
 * Removes the oldest files until those that are left are young enough and leave room for one more of the full size.
 * The file that a living process is writing stays, however old.
 */
export async function pruneAuditFiles(folder: string, limits: AuditLimits, now: number): Promise<void> {
  const files = await listAuditFiles(folder);
  const current = new Map(files.map((file) => [file.writer, file]));
  let total = files.reduce((sum, { size }) => sum + size, limits.maxFileBytes);
  for (const file of files) {
    const isTooMuch = total > limits.maxTotalBytes || now - file.modifiedAt > limits.maxAgeMs;
    if (isTooMuch && !(current.get(file.writer) === file && (await isBeingWritten(file.path)))) {
      await unlink(file.path).catch(nothingIfMissing(undefined));
      total -= file.size;
    }
  }
}

/** The first entry names the writer. A file without one was cut off right at its start. */
async function isBeingWritten(path: string): Promise<boolean> {
  const file = await open(path).catch(nothingIfMissing(undefined));
  if (file === undefined) {
    return false;
  }
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    const [line = ''] = buffer.toString('utf8', 0, bytesRead).split('\n');
    const start = parseAuditLine(line);
    return start?.kind === 'start' && processIdentity(start.pid) === start.started;
  } finally {
    await file.close();
  }
}

/** The entry in a line; undefined when the line is damaged, or of a version that is not known here. */
export function parseAuditLine(line: string): AuditEntry | undefined {
  try {
    return auditEntrySchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

function nothingIfMissing<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code !== 'ENOENT') {
      throw error;
    }
    return value;
  };
}
