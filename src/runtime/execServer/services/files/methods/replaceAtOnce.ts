import { closeSync, constants, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pathOnly } from '../held.ts';

/** What is written without handing it to another thread, which costs more than the call itself. */
export const mostAtOnce = 64 * 1024;

/** Of statfs(2), the file systems that wait for nobody else: no server, and no program of a user. */
const prompt: ReadonlySet<number> = new Set([
  0xef53, // ext2 to ext4
  0x58465342, // XFS
  0x9123683e, // Btrfs
  0xf2f52010, // F2FS
  0x2fc12fc1, // ZFS
  0x01021994, // tmpfs
  0x794c7630, // overlayfs
]);

/** Something else may be mounted there later. */
const believedMs = 10_000;
const mostFolders = 64;

/** When each folder was last found to be on a prompt file system. */
const promptSince = new Map<string, number>();

/**
 * Writes a small file at once, made if need be, when that keeps nobody waiting. False when nothing was done: it takes
 * the usual way then, which also knows what is wrong. Links are followed, except in the last place.
 */
export function replaceAtOnce(path: string, bytes: Uint8Array): boolean {
  if (process.platform !== 'linux' || bytes.byteLength > mostAtOnce || !isPrompt(dirname(path))) {
    return false;
  }
  const file = openFile(path);
  if (file === undefined) {
    return false;
  }
  try {
    replaceContent(file, bytes);
    return true;
  } finally {
    closeSync(file);
  }
}

/**
 * Cut off at the end, not emptied at the beginning: to give all blocks back and take new ones is most of the time on
 * ext4, and whoever reads meanwhile, or after a power cut, would find an empty file.
 */
function replaceContent(file: number, bytes: Uint8Array): void {
  let written = 0;
  try {
    while (written < bytes.byteLength) {
      written += writeSync(file, bytes, written);
    }
  } finally {
    // A full disk that took nothing leaves the old content.
    if (written > 0 || bytes.byteLength === 0) {
      ftruncateSync(file, written);
    }
  }
}

/** A file; a pipe or a device is never opened. */
function openFile(path: string): number | undefined {
  try {
    const held = hold(path);
    if (held === undefined) {
      return openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o666);
    }
    try {
      return fstatSync(held).isFile()
        ? openSync(`/proc/self/fd/${held}`, constants.O_WRONLY | constants.O_NONBLOCK)
        : undefined;
    } finally {
      closeSync(held);
    }
  } catch {
    return undefined;
  }
}

/** Undefined when there is nothing. */
function hold(path: string): number | undefined {
  try {
    return openSync(path, pathOnly | constants.O_NOFOLLOW);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
}

/** As was found out when somebody asked last; what is not known yet is found out for the next time. */
function isPrompt(folder: string): boolean {
  if (Date.now() - (promptSince.get(folder) ?? -Infinity) < believedMs) {
    return true;
  }
  promptSince.delete(folder);
  statfs(folder).then(
    ({ type }) => {
      if (prompt.has(type)) {
        promptSince.set(folder, Date.now());
        const [oldest] = promptSince.keys();
        if (promptSince.size > mostFolders && oldest !== undefined) {
          promptSince.delete(oldest);
        }
      }
    },
    () => undefined,
  );
  return false;
}
