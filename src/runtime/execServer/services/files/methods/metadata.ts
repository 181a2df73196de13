import type { Stats } from 'node:fs';
import { errorCodes, RpcError } from '../../../protocol/errors.ts';
import type { ResultOf } from '../../../protocol/methods.ts';
import type { Links } from '../held.ts';
import { holding } from '../held.ts';
import type { Judge } from '../judge.ts';
import { codeOf } from '../osErrors.ts';

/** What a path leads to; with `none`, what is there itself. */
export async function getMetadata(
  path: string,
  links: Links,
  judge: Judge,
): Promise<ResultOf<'fs/getMetadata'>> {
  if (links === 'none') {
    const stats = await itself(path, judge);
    return { ...describe(stats, false), createdAtMs: Math.floor(stats.birthtimeMs) };
  }
  const entry = await holding(path, 'folders', async (held) => {
    judge.read(held.path);
    return held.stats;
  });
  return entry.isSymbolicLink() ? describe(await target(path, judge), true) : describe(entry, false);
}

export function canonicalize(path: string, judge: Judge): Promise<string> {
  return holding(path, 'all', async (held) => {
    judge.read(held.path);
    return held.path;
  });
}

function target(path: string, judge: Judge): Promise<Stats> {
  return holding(path, 'all', async (held) => {
    judge.read(held.path);
    return held.stats;
  });
}

async function itself(path: string, judge: Judge): Promise<Stats> {
  try {
    return await holding(path, 'none', async (held) => {
      judge.read(held.path);
      return held.stats;
    });
  } catch (error) {
    throw codeOf(error) === 'ELOOP'
      ? new RpcError(errorCodes.invalidRequest, 'path contains a symbolic link')
      : error;
  }
}

function describe(stats: Stats, isSymlink: boolean): ResultOf<'fs/getMetadata'> {
  return {
    isDirectory: stats.isDirectory(),
    isFile: stats.isFile(),
    isSymlink,
    size: stats.size,
    // The reference server tells it on Linux only of what is there itself, and so does Cordon's, for equal answers.
    createdAtMs: process.platform === 'linux' ? 0 : Math.floor(stats.birthtimeMs),
    modifiedAtMs: Math.floor(stats.mtimeMs),
  };
}
