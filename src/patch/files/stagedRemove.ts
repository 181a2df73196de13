import type { BigIntStats } from 'node:fs';
import { accessSync, constants, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { RefusedCall, attempt } from './attempt.ts';
import { isSameContent, lookUp, requireExpected } from './entryStat.ts';
import type { RemoveChange, StagedChange } from './fileSystem.ts';
import type { Folder, OpenFolder } from './folder.ts';
import { inFolder } from './folder.ts';
import { nameBeside } from './newFile.ts';
import { drop, restoring } from './original.ts';

/** Prepares the removal of a file or a link: the commit moves it aside, so that it can come back as it was. */
export function stageRemove(open: OpenFolder, { path, expected }: RemoveChange): StagedChange {
  const folderPath = dirname(path);
  const name = basename(path);
  const aside = nameBeside(name);
  let isCommitted = false;
  attempt('delete', path, () => {
    if (expected.kind === 'folder' || expected.kind === 'missing') {
      throw new RefusedCall(expected.kind === 'folder' ? 'EISDIR' : 'ENOENT', `${path} is no file`);
    }
    inFolder(open, folderPath, (folder) => {
      requireExpected(folder.at(name), expected);
      accessSync(folder.at('.'), constants.W_OK | constants.X_OK);
    });
  });
  return {
    commit: async () =>
      attempt('delete', path, () =>
        inFolder(open, folderPath, (folder) => {
          const current = requireExpected(folder.at(name), expected);
          renameSync(folder.at(name), folder.at(aside));
          if (current !== undefined) {
            requireMoved(folder, current);
          }
          isCommitted = true;
        }),
      ),
    revert: async () =>
      restoring(
        path,
        () => join(folderPath, aside),
        () =>
          inFolder(open, folderPath, (folder) => {
            requireExpected(folder.at(name), { kind: 'missing' });
            renameSync(folder.at(aside), folder.at(name));
          }),
      ),
    release: async () =>
      attempt('delete', path, () => {
        if (isCommitted) {
          inFolder(open, folderPath, (folder) => drop(folder, aside));
        }
      }),
  };

  /** Puts back what was moved aside when it is not what was looked at. */
  function requireMoved(folder: Folder, stats: BigIntStats): void {
    if (!isSameContent(lookUp(folder.at(aside)), stats)) {
      renameSync(folder.at(aside), folder.at(name));
      throw new RefusedCall('ESTALE', `${path} was replaced`);
    }
  }
}
