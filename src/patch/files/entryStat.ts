import type { BigIntStats } from 'node:fs';
import { lstatSync, readlinkSync } from 'node:fs';
import { errorCode } from '../../sandbox/paths.ts';
import { RefusedCall } from './attempt.ts';
import type { Entry } from './fileSystem.ts';

const permissionBits = 0o7777n;

/** lstat(2); undefined for what does not exist, below a file included. */
export function lookUp(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR') {
      return undefined;
    }
    throw error;
  }
}

export function entryOf(path: string, stats: BigIntStats | undefined): Entry {
  if (stats === undefined) {
    return { kind: 'missing' };
  }
  if (stats.isFile()) {
    return { kind: 'file', mode: modeOf(stats), size: Number(stats.size), version: versionOf(stats) };
  }
  if (stats.isDirectory()) {
    return { kind: 'folder' };
  }
  return stats.isSymbolicLink() ? { kind: 'link', target: readlinkSync(path) } : { kind: 'other' };
}

export function modeOf(stats: BigIntStats): number {
  return Number(stats.mode & permissionBits);
}

/** Changes with every write, change of permissions and replacement, also when the modification time is set back. */
export function versionOf(stats: BigIntStats): string {
  return [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(':');
}

/** Whether it is the same file with the same content: like the version, but its links may have changed. */
export function isSameContent(stats: BigIntStats | undefined, other: BigIntStats): boolean {
  return (
    stats !== undefined &&
    stats.dev === other.dev &&
    stats.ino === other.ino &&
    stats.size === other.size &&
    stats.mtimeNs === other.mtimeNs
  );
}

/** Looks an entry up and throws `ESTALE` when it is not the expected one. */
export function requireExpected(path: string, expected: Entry): BigIntStats | undefined {
  const stats = lookUp(path);
  if (!isSameEntry(entryOf(path, stats), expected)) {
    throw new RefusedCall('ESTALE', 'the entry is not the expected one');
  }
  return stats;
}

function isSameEntry(entry: Entry, expected: Entry): boolean {
  if (entry.kind === 'file') {
    return expected.kind === 'file' && expected.version === entry.version;
  }
  if (entry.kind === 'link') {
    return expected.kind === 'link' && expected.target === entry.target;
  }
  return expected.kind === entry.kind;
}
