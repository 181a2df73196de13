import type { BigIntStats } from 'node:fs';
import { accessSync, constants, renameSync, unlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../../sandbox/paths.ts';
import { RefusedCall, attempt } from './attempt.ts';
import { isSameContent, lookUp, modeOf, requireExpected } from './entryStat.ts';
import type { StagedChange, WriteChange } from './fileSystem.ts';
import type { OpenFolder } from './folder.ts';
import { inFolder } from './folder.ts';
import { makeFolders, missingFolders, removeFolders } from './folders.ts';
import { stageInPlace } from './inPlaceWrite.ts';
import { nameBeside, writeNewFile } from './newFile.ts';
import { drop, keepOriginal, restoring } from './original.ts';

/** Why a file beside cannot replace a file that itself can be written: the folder is closed, or the owner is another. */
const isReplacingRefused: ReadonlySet<string | undefined> = new Set(['EACCES', 'EPERM', 'EROFS', 'EINVAL']);

/**
 * Prepares a new or changed file: written beside its place, or in the nearest folder above that exists, so that the
 * commit is one rename. A file with several hard links is written in place instead, because they all name one file
 * and shall go on doing so; and so is one that a new file could not replace without losing its owner.
 */
export function stageWrite(open: OpenFolder, change: WriteChange): StagedChange {
  const { path, expected, bytes } = change;
  return attempt('write', path, () => {
    if (expected.kind !== 'missing' && expected.kind !== 'file') {
      throw new RefusedCall(expected.kind === 'folder' ? 'EISDIR' : 'EEXIST', `${path} is no file`);
    }
    const folders = missingFolders(path);
    const stagingPath = dirname(folders[0] ?? path);
    return inFolder(open, stagingPath, (staging) => {
      const current = requireExpected(folders.length > 0 ? path : staging.at(basename(path)), expected);
      const kept = change.mode === 'new' ? undefined : current;
      if (kept !== undefined) {
        accessSync(staging.at(basename(path)), constants.W_OK);
        if (kept.nlink > 1n) {
          return stageInPlace(open, change);
        }
      } else if (folders.length > 0) {
        attempt('mkdir', path, () => accessSync(staging.at('.'), constants.W_OK | constants.X_OK));
      }
      const temporary = nameBeside(basename(path));
      try {
        const written = writeNewFile(staging.at(temporary), bytes, {
          mode: change.mode === 'new' ? undefined : (change.mode ?? (kept && modeOf(kept))),
          owner: kept,
        });
        return stageReplacement(open, change, { folders, stagingPath, temporary, written });
      } catch (error) {
        if (kept === undefined || !isReplacingRefused.has(errorCode(error))) {
          throw error;
        }
        return stageInPlace(open, change);
      }
    });
  });
}

/** What link(2) and rename(2) say about a file that is a mount of its own, as containers have them. */
const isMountPoint: ReadonlySet<string | undefined> = new Set(['EXDEV', 'EBUSY']);

interface Staging {
  readonly folders: readonly string[];
  readonly stagingPath: string;
  readonly temporary: string;
  readonly written: BigIntStats;
}

function stageReplacement(open: OpenFolder, change: WriteChange, staged: Staging): StagedChange {
  const { path, expected } = change;
  const { folders, stagingPath, temporary, written } = staged;
  const folderPath = dirname(path);
  const name = basename(path);
  let made: readonly string[] = [];
  let saved: string | undefined;
  let isCommitted = false;
  let inPlace: StagedChange | undefined;

  function replace(): void {
    inFolder(open, folderPath, (folder) => {
      const current = requireExpected(folder.at(name), expected);
      saved = current && keepOriginal(folder, name, current);
      try {
        inFolder(open, stagingPath, (staging) => renameSync(staging.at(temporary), folder.at(name)));
      } catch (error) {
        dropSaved();
        throw error;
      }
    });
  }

  function dropSaved(): void {
    const kept = saved;
    saved = undefined;
    if (kept !== undefined) {
      inFolder(open, folderPath, (folder) => drop(folder, kept));
    }
  }

  function commit(): void {
    made = makeFolders(open, folders, path);
    try {
      replace();
    } catch (error) {
      removeFolders(open, made);
      throw error;
    }
    isCommitted = true;
  }

  function revert(): void {
    inFolder(open, folderPath, (folder) => {
      if (!isSameContent(lookUp(folder.at(name)), written)) {
        throw new RefusedCall('ESTALE', `${path} was changed since`);
      }
      if (saved === undefined) {
        unlinkSync(folder.at(name));
      } else {
        renameSync(folder.at(saved), folder.at(name));
      }
    });
    removeFolders(open, made);
  }

  function dropTemporary(): void {
    inFolder(open, stagingPath, (staging) => drop(staging, temporary));
  }

  return {
    commit: async () => {
      try {
        attempt('write', path, commit);
      } catch (error) {
        if (expected.kind !== 'file' || !isMountPoint.has(errorCode(error))) {
          throw error;
        }
        inPlace = attempt('write', path, () => stageInPlace(open, change));
        await inPlace.commit();
      }
    },
    revert: async () => {
      if (inPlace === undefined) {
        restoring(path, () => saved && join(folderPath, saved), revert);
      } else {
        await inPlace.revert();
        attempt('write', path, dropTemporary);
      }
    },
    release: async () => attempt('write', path, isCommitted ? dropSaved : dropTemporary),
  };
}
