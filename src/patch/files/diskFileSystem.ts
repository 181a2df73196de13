import { attempt } from './attempt.ts';
import { entryOf, lookUp } from './entryStat.ts';
import type { FileChange, FileSystem, StagedChange } from './fileSystem.ts';
import type { OpenFolder } from './folder.ts';
import { openFolder } from './folder.ts';
import { readFileItself } from './newFile.ts';
import { stageRemove } from './stagedRemove.ts';
import { stageRename } from './stagedRename.ts';
import { stageWrite } from './stagedWrite.ts';

/**
 * The disk of this machine. Changes are safe from links that are put in the way while they happen: every call works
 * in a folder that was opened and found to be the expected one. Files are replaced by a rename, so nobody sees half
 * of one; access control lists and extended attributes of a replaced file do not survive, because Node cannot copy
 * them. The calls are synchronous inside, which is several times faster for many small files.
 */
export function createDiskFileSystem(open: OpenFolder = openFolder): FileSystem {
  return {
    stat: async (path) => attempt('stat', path, () => entryOf(path, lookUp(path))),
    read: async (path) => attempt('read', path, () => readFileItself(path)),
    stage: async (change) => stage(open, change),
  };
}

function stage(open: OpenFolder, change: FileChange): StagedChange {
  switch (change.kind) {
    case 'write':
      return stageWrite(open, change);
    case 'remove':
      return stageRemove(open, change);
    case 'rename':
      return stageRename(open, change);
  }
}
