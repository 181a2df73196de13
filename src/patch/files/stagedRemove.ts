import type { BigIntStats } from 'node:fs';
import { accessSync, constants, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { RefusedCall, attempt } from './attempt.ts';
import { isSameContent, lookUp, requireExpected } from './entryStat.ts';
import type { RemoveChange, StagedChange } from './fileSystem.ts';
import type { OpenFolder } from './folder.ts';
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
          try {
            requireSame(lookUp(folder.at(aside)), current);
          } catch (error) {
            renameSync(folder.at(aside), folder.at(name));
            throw error;
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
}

/** What was moved aside may no longer be what was looked at a moment before. */
function requireSame(moved: BigIntStats | undefined, expected: BigIntStats | undefined): void {
  if (expected === undefined || !isSameContent(moved, expected)) {
    throw new RefusedCall('ESTALE', 'the entry was replaced');
  }
}
