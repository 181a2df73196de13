import type { Dirent } from 'node:fs';
import { errorCodes, RpcError } from '../../../protocol/errors.ts';
import type { ResultOf } from '../../../protocol/methods.ts';
import { inFolder } from '../held.ts';
import type { Judge } from '../judge.ts';
import { bytesPerListed, longestListing, outgrown } from '../limits.ts';
import { kindOf, listFolder } from './listing.ts';

/** With an answer of more bytes than `atMost` it is given up with the code {@link outgrown}. */
export function readDirectory(
  path: string,
  judge: Judge,
  atMost: number = Infinity,
): Promise<ResultOf<'fs/readDirectory'>> {
  return inFolder(path, 'all', async (folder) => {
    judge.read(folder.path);
    const listed = await listFolder(folder, Math.min(longestListing, Math.ceil(atMost / bytesPerListed)) + 1);
    if (sizeOf(listed) > atMost) {
      throw new RpcError(outgrown, `${path} lists more than ${atMost} bytes`);
    }
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

function sizeOf(listed: readonly Dirent[]): number {
  return listed.reduce((sum, { name }) => sum + JSON.stringify(name).length + bytesPerListed, 0);
}
