import { errorCodes, RpcError } from '../../../protocol/errors.ts';
import type { ResultOf } from '../../../protocol/methods.ts';
import { inFolder } from '../held.ts';
import type { Judge } from '../judge.ts';
import { longestListing } from '../limits.ts';
import { kindOf, listFolder } from './listing.ts';

export function readDirectory(path: string, judge: Judge): Promise<ResultOf<'fs/readDirectory'>> {
  return inFolder(path, 'all', async (folder) => {
    judge.read(folder.path);
    const listed = await listFolder(folder, longestListing + 1);
    if (listed.length > longestListing) {
      throw new RpcError(
        errorCodes.invalidRequest,
        `${path} has more than ${longestListing} entries: list it with fs/walk, or its parts`,
      );
    }
    const entries: { fileName: string; isDirectory: boolean; isFile: boolean }[] = [];
    for (const entry of listed) {
      const kind = await kindOf(folder, entry, judge);
      if (kind !== undefined) {
        entries.push({
          fileName: entry.name,
          isDirectory: kind === 'directory',
          isFile: kind === 'file',
        });
      }
    }
    return { entries };
  });
}
