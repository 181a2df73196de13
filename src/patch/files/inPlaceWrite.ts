import type { BigIntStats } from 'node:fs';
import { constants, fchmodSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../../sandbox/paths.ts';
import { RefusedCall, attempt } from './attempt.ts';
import { isSameContent, modeOf, requireExpected, versionOf } from './entryStat.ts';
import type { StagedChange, WriteChange } from './fileSystem.ts';
import { FileError } from './fileSystem.ts';
import type { OpenFolder } from './folder.ts';
import { inFolder } from './folder.ts';
import { closing, nameBeside, readFileItself, writeNewFile } from './newFile.ts';

/**
 * Prepares writing into an existing file, which keeps its identity, owner and links. The original waits in memory,
 * because the folder may be closed; only when it cannot be put back it goes to a file in the temporary folder.
 */
export function stageInPlace(open: OpenFolder, change: WriteChange): StagedChange {
  const { path, expected, bytes } = change;
  const { stats, original } = inFile(open, path, (place) => {
    const stats = requireExpected(place, expected);
    if (stats === undefined) {
      throw new RefusedCall('ENOENT', `${path} is missing`);
    }
    return { stats, original: readFileItself(place) };
  });
  let written: BigIntStats;

  function write(check: (current: BigIntStats) => boolean, content: Buffer, mode: number): BigIntStats {
    return inFile(open, path, (place) => {
      // A pipe that took the file's place would make open(2) wait.
      const descriptor = openSync(place, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      return closing(descriptor, () => {
        if (!check(fstatSync(descriptor, { bigint: true }))) {
          throw new RefusedCall('ESTALE', `${path} was changed`);
        }
        try {
          overwrite(descriptor, content, mode);
        } catch (error) {
          restoring(path, original, () => overwrite(descriptor, original, modeOf(stats)));
          throw error;
        }
        return fstatSync(descriptor, { bigint: true });
      });
    });
  }

  return {
    commit: async () => {
      const isExpected = (current: BigIntStats): boolean => versionOf(current) === versionOf(stats);
      written = attempt('write', path, () => write(isExpected, bytes, change.mode ?? modeOf(stats)));
    },
    revert: async () => {
      const isOurs = (current: BigIntStats): boolean => isSameContent(current, written);
      restoring(path, original, () => write(isOurs, original, modeOf(stats)));
    },
    release: async () => undefined,
  };
}

function inFile<T>(open: OpenFolder, path: string, action: (place: string) => T): T {
  return inFolder(open, dirname(path), (folder) => action(folder.at(basename(path))));
}

/** Shortens last: until then the blocks of the old content are there to be written again. */
function overwrite(descriptor: number, bytes: Buffer, mode: number): void {
  let offset = 0;
  while (offset < bytes.length) {
    offset += writeSync(descriptor, bytes, offset, bytes.length - offset, offset);
  }
  ftruncateSync(descriptor, bytes.length);
  if (modeOf(fstatSync(descriptor, { bigint: true })) !== mode) {
    changeMode(descriptor, mode);
  }
}

/** Writing takes the set-id bits away, and only the owner can set them again. */
function changeMode(descriptor: number, mode: number): void {
  try {
    fchmodSync(descriptor, mode);
  } catch (error) {
    if (errorCode(error) !== 'EPERM') {
      throw error;
    }
  }
}

/** When the original cannot be put back, saves it elsewhere and says where. */
function restoring(path: string, original: Buffer, action: () => void): void {
  try {
    action();
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined || error instanceof FileError) {
      throw error;
    }
    const savedAs = join(tmpdir(), nameBeside(basename(path)));
    writeNewFile(savedAs, original, { mode: 0o600 });
    throw new FileError('write', path, code, { cause: error, savedAs });
  }
}
