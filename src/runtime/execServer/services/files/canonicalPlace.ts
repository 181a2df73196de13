import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf } from './osErrors.ts';

/**
 * The path with all links resolved, as far as it exists; with `isLastFollowed` false, a link in the last place stays.
 * What it says may be out of date at once: good for a refusal, not for a call.
 */
export async function canonicalPlace(path: string, isLastFollowed = true): Promise<string> {
  if (path === dirname(path)) {
    return path;
  }
  if (isLastFollowed) {
    try {
      return await realpath(path);
    } catch (error) {
      if (codeOf(error) === undefined) {
        throw error;
      }
    }
  }
  return join(await canonicalPlace(dirname(path)), basename(path));
}
