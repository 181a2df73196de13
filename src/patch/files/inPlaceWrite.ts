import type { BigIntStats } from 'node:fs';
import { constants, fchmodSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../../sandbox/paths.ts';
import { RefusedCall, attempt } from './attempt.ts';
import { isSameContent, lookUp, modeOf, requireExpected, versionOf } from './entryStat.ts';
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
  const mode = typeof change.mode === 'number' ? change.mode : modeOf(stats);
  let written: BigIntStats;

  function write(isExpected: Check, content: Buffer, bits: number): BigIntStats {
    return inFile(open, path, (place) => {
      requireThat(isExpected(lookUp(place)));
      const flags = constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
      const descriptor = openSync(place, flags);
      return closing(descriptor, () => {
        // Once more, because it is only now that the file cannot be exchanged.
        requireThat(isExpected(fstatSync(descriptor, { bigint: true })));
        try {
          overwrite(descriptor, content, bits);
          return fstatSync(descriptor, { bigint: true });
        } catch (error) {
          restoring(path, original, () => overwrite(descriptor, original, modeOf(stats)));
          throw error;
        }
      });
    });
  }

  return {
    commit: async () => {
      const isExpected: Check = (current) => current !== undefined && versionOf(current) === versionOf(stats);
      written = attempt('write', path, () => write(isExpected, bytes, mode));
    },
    revert: async () => {
      const isOurs: Check = (current) => isSameContent(current, written);
      restoring(path, original, () => write(isOurs, original, modeOf(stats)));
    },
    release: async () => undefined,
  };
}

type Check = (current: BigIntStats | undefined) => boolean;

function requireThat(isExpected: boolean): void {
  if (!isExpected) {
    throw new RefusedCall('ESTALE', 'the file is not the expected one');
  }
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
