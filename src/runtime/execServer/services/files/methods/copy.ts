import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { mkdir, readdir, readlink, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isInside } from '../../../../../sandbox/paths.ts';
import { errorCodes, RpcError } from '../../../protocol/errors.ts';
import { canonicalPlace } from '../canonicalPlace.ts';
import type { Held, Place } from '../held.ts';
import { atIn, holding, holdingIn, inFolder, inPlace, placeIn } from '../held.ts';
import type { Judge } from '../judge.ts';
import { codeOf } from '../osErrors.ts';
import { fill, writeAll } from './content.ts';
import { createDirectory } from './createDirectory.ts';
import { openToWrite, reopen } from './openFile.ts';

/**
 * Copies a file with its permissions, a link as a link, or a folder with everything in it but pipes, sockets and
 * devices. Files are overwritten, folders merged.
 */
export async function copy(
  source: string,
  destination: string,
  isRecursive: boolean,
  judge: Judge,
): Promise<void> {
  await holding(source, 'folders', async (held) => {
    judge.read(held.path);
    if (held.stats.isDirectory()) {
      if (!isRecursive) {
        throw invalid('fs/copy requires recursive: true when copying a directory');
      }
      const target = await canonicalPlace(destination);
      if (isInside(target, held.path)) {
        throw invalid('fs/copy cannot copy a directory to itself or one of its descendants');
      }
      await createDirectory(dirname(target), true, 'all', judge);
      await copyFolder(held, target, new Set(), judge);
    } else if (held.stats.isSymbolicLink()) {
      await inPlace(source, 'folders', ({ at }) =>
        inPlace(destination, 'folders', (place) => copyLink(at, place, judge)),
      );
    } else if (held.stats.isFile()) {
      await copyContent(held, destination, judge);
    } else {
      throw invalid('fs/copy only supports regular files, directories, and symlinks');
    }
  });
}

/** `made`: the folders that this copy made, which it must not copy, should somebody move them into the source. */
async function copyFolder(source: Held, target: string, made: Set<string>, judge: Judge): Promise<void> {
  if (made.has(identity(source))) {
    throw invalid('fs/copy cannot copy a directory to itself or one of its descendants');
  }
  await makeFolder(target, judge);
  await inFolder(target, 'all', async (folder) => {
    judge.write(folder.path);
    made.add(identity(folder));
    for (const name of await readdir(source.at, { encoding: 'buffer' })) {
      await copyEntry(source, folder, name, made, judge);
    }
  });
}

async function copyEntry(
  source: Held,
  target: Held,
  name: Buffer,
  made: Set<string>,
  judge: Judge,
): Promise<void> {
  if (!Buffer.from(String(name)).equals(name)) {
    throw invalid(`${join(source.path, String(name))}: a name that is no UTF-8 cannot be copied`);
  }
  await holdingIn(source, name, async (held) => {
    judge.read(held.path);
    const place = placeIn(target, String(name));
    if (held.stats.isDirectory()) {
      await copyFolder(held, place.at, made, judge);
    } else if (held.stats.isSymbolicLink()) {
      await copyLink(atIn(source, name), place, judge);
    } else if (held.stats.isFile()) {
      await copyContent(held, place.at, judge);
    }
  });
}

async function makeFolder(path: string, judge: Judge): Promise<void> {
  try {
    await inPlace(path, 'folders', async (place) => {
      judge.write(place.path);
      await mkdir(place.at);
    });
  } catch (error) {
    const isThere = codeOf(error) === 'EEXIST' && (await holding(path, 'all', isFolder).catch(() => false));
    if (!isThere) {
      throw error;
    }
  }
}

async function copyLink(source: string | Buffer, place: Place, judge: Judge): Promise<void> {
  judge.write(place.path);
  await symlink(await readlink(source), place.at);
}

async function copyContent(source: Held, destination: string, judge: Judge): Promise<void> {
  const from = await reopen(source, constants.O_RDONLY, source.path);
  try {
    const mode = source.stats.mode & permissionBits;
    const to = await openToWrite(destination, 'all', judge, mode);
    try {
      const { dev, ino } = await to.stat();
      if (dev !== source.stats.dev || ino !== source.stats.ino) {
        await to.truncate(0);
        await to.chmod(mode);
        await pour(from, to);
      }
    } finally {
      await to.close();
    }
  } finally {
    await from.close();
  }
}

async function pour(from: FileHandle, to: FileHandle): Promise<void> {
  const piece = Buffer.allocUnsafe(pieceLength);
  for (let position = 0; ; position += piece.length) {
    const length = await fill(from, piece, position);
    await writeAll(to, piece.subarray(0, length), position);
    if (length < piece.length) {
      return;
    }
  }
}

const pieceLength = 1024 * 1024;
const permissionBits = 0o7777;

const isFolder = async (held: Held): Promise<boolean> => held.stats.isDirectory();

function identity({ stats }: Held): string {
  return `${stats.dev}:${stats.ino}`;
}

function invalid(message: string): RpcError {
  return new RpcError(errorCodes.invalidRequest, message);
}
