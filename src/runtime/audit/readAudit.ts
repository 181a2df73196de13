import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import type { AuditEntry } from './auditEntry.ts';
import type { AuditFileInfo } from './auditFiles.ts';
import { listAuditFiles, parseAuditLine } from './auditFiles.ts';
import type { AuditFilter } from './auditFilter.ts';
import { matchesFilter } from './auditFilter.ts';
import { reverseLines } from './reverseLines.ts';

/** What could not be read so far. */
export interface AuditDamage {
  /** Of lines that are cut off, damaged, or of a version that is not known here. */
  readonly bytes: number;
  readonly lines: number;
  /** Files that could not be opened or read, with the reason. */
  readonly files: readonly { readonly path: string; readonly reason: string }[];
}

export interface AuditReading {
  /** Newest first, over all files. Can be gone through once. */
  readonly entries: AsyncIterable<AuditEntry>;
  /** Grows while the entries are read. */
  readonly damage: AuditDamage;
}

/**
 * Reads the log in a folder as it is now. Files are open only while their time is read, and memory holds a line of
 * each. Throws when the folder cannot be listed; one that is not there has no entries.
 */
export function readAudit(folder: string, filter: AuditFilter = {}): AuditReading {
  const damage = { bytes: 0, lines: 0, files: [] as { path: string; reason: string }[] };
  return { entries: mergeFiles(folder, filter, damage), damage };
}

type Damage = { -readonly [Field in keyof AuditDamage]: AuditDamage[Field] } & {
  files: { path: string; reason: string }[];
};

/** The clock that stamps files may be a tick behind the one that stamps entries. */
const clockSlackMs = 1_000;

/** An open file, and the newest entry in it that was not given yet. */
interface Source {
  readonly entries: AsyncGenerator<AuditEntry, void, void>;
  entry: AuditEntry;
}

async function* mergeFiles(folder: string, filter: AuditFilter, damage: Damage): AsyncGenerator<AuditEntry> {
  const files = (await listAuditFiles(folder))
    .filter(({ modifiedAt }) => modifiedAt + clockSlackMs >= (filter.since ?? 0))
    .sort((one, other) => one.modifiedAt - other.modifiedAt);
  const sources: Source[] = [];
  try {
    for (;;) {
      let newest = newestOf(sources);
      // A file has no entry that is newer than its last change.
      for (let file = files.at(-1); file !== undefined && mayBeNewer(file, newest); file = files.at(-1)) {
        files.pop();
        const entries = entriesOf(file, damage);
        const first = await entries.next();
        if (first.done !== true) {
          sources.push({ entries, entry: first.value });
        }
        newest = newestOf(sources);
      }
      if (newest === undefined) {
        return;
      }
      if (matchesFilter(newest.entry, filter)) {
        yield newest.entry;
      }
      const next = await newest.entries.next();
      if (next.done === true) {
        sources.splice(sources.indexOf(newest), 1);
      } else {
        newest.entry = next.value;
      }
    }
  } finally {
    await Promise.all(sources.map(({ entries }) => entries.return()));
  }
}

function newestOf(sources: readonly Source[]): Source | undefined {
  return sources.reduce<Source | undefined>(
    (newest, source) => (newest === undefined || source.entry.at > newest.entry.at ? source : newest),
    undefined,
  );
}

function mayBeNewer({ modifiedAt }: AuditFileInfo, newest: Source | undefined): boolean {
  return newest === undefined || modifiedAt + clockSlackMs >= Date.parse(newest.entry.at);
}

async function* entriesOf({ path }: AuditFileInfo, damage: Damage): AsyncGenerator<AuditEntry, void, void> {
  let file: FileHandle | undefined;
  try {
    file = await open(path);
    for await (const { text, bytes } of reverseLines(file)) {
      const entry = text === undefined ? undefined : parseAuditLine(text);
      if (entry !== undefined) {
        yield entry;
      } else if (bytes > 0) {
        damage.bytes += bytes;
        damage.lines += 1;
      }
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // It became too old meanwhile.
    if (code !== 'ENOENT') {
      damage.files.push({ path, reason: message });
    }
  } finally {
    await file?.close();
  }
}
