import type { BigIntStats } from 'node:fs';
import { accessSync, constants, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../../sandbox/paths.ts';
import { RefusedCall, attempt } from './attempt.ts';
import { isSameContent, lookUp, modeOf, requireExpected } from './entryStat.ts';
import type { RenameChange, StagedChange } from './fileSystem.ts';
import type { OpenFolder } from './folder.ts';
import { inFolder } from './folder.ts';
import { makeFolders, missingFolders, removeFolders } from './folders.ts';
import { readFileItself } from './newFile.ts';
import { drop, keepOriginal, restoring } from './original.ts';
import { stageRemove } from './stagedRemove.ts';
import { stageWrite } from './stagedWrite.ts';

/**
 * Prepares the renaming of a file or a link: one rename(2), over what is at the destination. Where that is not
 * possible, on another device, or would tear a destination from its further hard links, a file is copied and removed.
 */
export function stageRename(open: OpenFolder, change: RenameChange): StagedChange {
  const { path, toPath } = change;
  const source = attempt('delete', path, () => checkSource(open, change));
  const folders = attempt('write', toPath, () => missingFolders(toPath));
  return attempt('write', toPath, () =>
    inFolder(open, dirname(folders[0] ?? toPath), (base) => {
      const { toExpected } = change;
      if (toExpected.kind !== 'missing' && toExpected.kind !== 'file') {
        throw new RefusedCall(toExpected.kind === 'folder' ? 'EISDIR' : 'EEXIST', `${toPath} is no file`);
      }
      const place = folders.length > 0 ? toPath : base.at(basename(toPath));
      const replaced = requireExpected(place, toExpected);
      if (replaced !== undefined) {
        accessSync(place, constants.W_OK);
      }
      attempt(folders.length > 0 ? 'mkdir' : 'write', toPath, () =>
        accessSync(base.at('.'), constants.W_OK | constants.X_OK),
      );
      if (replaced !== undefined && isSecondName(source, replaced, change)) {
        return stageRemove(open, { kind: 'remove', path, expected: change.expected });
      }
      const isElsewhere = lookUp(base.at('.'))?.dev !== source.dev;
      return isElsewhere || (replaced !== undefined && replaced.nlink > 1n)
        ? stageCopy(open, change, source)
        : stageMove(open, change, source, folders);
    }),
  );
}

/**
 * Two hard links of one file: rename(2) does nothing then, and leaves both. Not where the names differ by case alone,
 * which may be one name.
 */
function isSecondName(source: BigIntStats, replaced: BigIntStats, { path, toPath }: RenameChange): boolean {
  return (
    replaced.nlink > 1n && isSameContent(source, replaced) && path.toLowerCase() !== toPath.toLowerCase()
  );
}

function checkSource(open: OpenFolder, { path, expected }: RenameChange): BigIntStats {
  return inFolder(open, dirname(path), (folder) => {
    const stats = requireExpected(folder.at(basename(path)), expected);
    if (stats === undefined || stats.isDirectory()) {
      throw new RefusedCall(stats === undefined ? 'ENOENT' : 'EISDIR', `${path} is no file`);
    }
    accessSync(folder.at('.'), constants.W_OK | constants.X_OK);
    return stats;
  });
}

function stageMove(
  open: OpenFolder,
  change: RenameChange,
  source: BigIntStats,
  folders: readonly string[],
): StagedChange {
  const { path, toPath } = change;
  const name = basename(path);
  const toFolder = dirname(toPath);
  const toName = basename(toPath);
  let made: readonly string[] = [];
  let saved: string | undefined;
  let copied: StagedChange | undefined;

  function move(): void {
    inFolder(open, dirname(path), (from) =>
      inFolder(open, toFolder, (to) => {
        attempt('delete', path, () => requireExpected(from.at(name), change.expected));
        const replaced = requireExpected(to.at(toName), change.toExpected);
        saved = replaced && keepOriginal(to, toName, replaced);
        try {
          renameSync(from.at(name), to.at(toName));
        } catch (error) {
          dropSaved();
          throw error;
        }
      }),
    );
  }

  function dropSaved(): void {
    const kept = saved;
    saved = undefined;
    if (kept !== undefined) {
      inFolder(open, toFolder, (folder) => drop(folder, kept));
    }
  }

  return {
    commit: async () => {
      try {
        attempt('write', toPath, () => {
          made = makeFolders(open, folders, toPath);
          try {
            move();
          } catch (error) {
            removeFolders(open, made);
            throw error;
          }
        });
      } catch (error) {
        // A mount of the same device: only rename(2) itself can tell.
        if (errorCode(error) !== 'EXDEV') {
          throw error;
        }
        copied = stageCopy(open, change, source);
        await copied.commit();
      }
    },
    revert: async () => {
      if (copied !== undefined) {
        return copied.revert();
      }
      restoring(
        path,
        () => toPath,
        () =>
          inFolder(open, dirname(path), (from) =>
            inFolder(open, toFolder, (to) => {
              requireExpected(from.at(name), { kind: 'missing' });
              if (!isSameContent(lookUp(to.at(toName)), source)) {
                throw new RefusedCall('ESTALE', `${toPath} was changed since`);
              }
              renameSync(to.at(toName), from.at(name));
            }),
          ),
      );
      restoring(
        toPath,
        () => saved && join(toFolder, saved),
        () => {
          const kept = saved;
          if (kept !== undefined) {
            inFolder(open, toFolder, (to) => renameSync(to.at(kept), to.at(toName)));
          }
          removeFolders(open, made);
        },
      );
    },
    release: async () => (copied === undefined ? attempt('write', toPath, dropSaved) : copied.release()),
  };
}

function stageCopy(open: OpenFolder, change: RenameChange, source: BigIntStats): StagedChange {
  const { path, expected, toPath, toExpected } = change;
  const bytes = attempt('read', path, () =>
    inFolder(open, dirname(path), (folder) => readFileItself(folder.at(basename(path)))),
  );
  const removal = stageRemove(open, { kind: 'remove', path, expected });
  const written = stageWrite(open, {
    kind: 'write',
    path: toPath,
    expected: toExpected,
    bytes,
    mode: modeOf(source),
  });
  return {
    commit: async () => {
      await written.commit();
      try {
        await removal.commit();
      } catch (error) {
        await written.revert();
        throw error;
      }
    },
    revert: async () => {
      await removal.revert();
      await written.revert();
    },
    release: async () => {
      await removal.release();
      await written.release();
    },
  };
}
