import { rmdir } from 'node:fs/promises';
import { FileError } from '../files/fileSystem.ts';
import type { FileEntry, FileSystem } from '../files/fileSystem.ts';
import { missingFoldersAbove } from '../files/missingFolders.ts';

/** What the disk holds at some paths, to be put back when something fails later. */
export interface DiskSnapshot {
  /** The content at the time; undefined when there was no file. */
  bytesAt(path: string): Buffer | undefined;
  /**
   * Puts everything back that differs and holds one of the contents that were written since, by path. What somebody
   * else wrote meanwhile stays. Gives a sentence for each file that is not what it was.
   */
  restore(written: ReadonlyMap<string, readonly Buffer[]>): Promise<readonly string[]>;
}

/** Reads the files at the paths. Throws {@link FileError}. */
export async function takeDiskSnapshot(paths: readonly string[], disk: FileSystem): Promise<DiskSnapshot> {
  const files = new Map<string, HeldFile | undefined>();
  for (const path of paths) {
    const entry = await disk.stat(path);
    files.set(path, entry.kind === 'file' ? { entry, bytes: await disk.read(path) } : undefined);
  }
  const missingFolders = await missingFoldersAbove(paths);
  return {
    bytesAt: (path) => files.get(path)?.bytes,
    async restore(written) {
      const problems: string[] = [];
      for (const [path, before] of files) {
        const problem = await restoreFile(path, before, written.get(path) ?? [], disk);
        if (problem !== undefined) {
          problems.push(problem);
        }
      }
      for (const folder of missingFolders) {
        await rmdir(folder).catch(() => undefined); // never made, or somebody else put something into it
      }
      return problems;
    },
  };
}

interface HeldFile {
  readonly entry: FileEntry;
  readonly bytes: Buffer;
}

async function restoreFile(
  path: string,
  before: HeldFile | undefined,
  written: readonly Buffer[],
  disk: FileSystem,
): Promise<string | undefined> {
  try {
    const entry = await disk.stat(path);
    const bytes = entry.kind === 'file' ? await disk.read(path) : undefined;
    const isSameMode = entry.kind !== 'file' || entry.mode === before?.entry.mode;
    if (
      before === undefined ? entry.kind === 'missing' : bytes?.equals(before.bytes) === true && isSameMode
    ) {
      return undefined;
    }
    const isOurs = entry.kind === 'missing' || written.some((content) => bytes?.equals(content) === true);
    if (!isOurs && bytes?.equals(before?.bytes ?? Buffer.alloc(0)) !== true) {
      // Where there was nothing, nothing of ours can be lost.
      return before && `${path} was changed by another program meanwhile and stays as it is.`;
    }
    const staged = await disk.stage(
      before === undefined
        ? { kind: 'remove', path, expected: entry }
        : { kind: 'write', path, expected: entry, bytes: before.bytes, mode: before.entry.mode },
    );
    try {
      await staged.commit();
    } finally {
      await staged.release();
    }
    return undefined;
  } catch (error) {
    return `${path} could not be changed back: ${error instanceof FileError ? error.code : String(error)}.`;
  }
}
