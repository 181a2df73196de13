import type { BigIntStats } from 'node:fs';
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { randomBytes } from 'node:crypto';
import { RefusedCall } from './attempt.ts';
import { modeOf } from './entryStat.ts';

/** What a new file takes over: permission bits (otherwise the default of new files) and the owner. */
export interface Attributes {
  readonly mode?: number | undefined;
  readonly owner?: { readonly uid: bigint; readonly gid: bigint } | undefined;
}

/**
 * A name beside a file that nobody else uses or can foresee. A process that is killed leaves it, so it says whose it
 * is; shortened, because the whole may not be longer than a name can be.
 */
export function nameBeside(name: string): string {
  return `.${name.slice(0, 40)}.cordon-${randomBytes(8).toString('hex')}`;
}

/** Makes a file that did not exist; on any failure there is none. Until it is complete only the user can read it. */
export function writeNewFile(path: string, bytes: Buffer, { mode, owner }: Attributes): BigIntStats {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const descriptor = openSync(path, flags, mode === undefined ? 0o666 : 0o600);
  try {
    return closing(descriptor, () => {
      writeFileSync(descriptor, bytes);
      const stats = fstatSync(descriptor, { bigint: true });
      if (owner !== undefined && (stats.uid !== owner.uid || stats.gid !== owner.gid)) {
        fchownSync(descriptor, Number(owner.uid), Number(owner.gid));
      }
      // Last, because a change of the owner takes the set-id bits away.
      if (mode !== undefined && mode !== modeOf(stats)) {
        fchmodSync(descriptor, mode);
      }
      return stats;
    });
  } catch (error) {
    unlinkSync(path);
    throw error;
  }
}

/** Reads a file, and neither what a link leads to nor a pipe, which would not end. */
export function readFileItself(path: string): Buffer {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const descriptor = openSync(path, flags);
  return closing(descriptor, () => {
    if (!fstatSync(descriptor).isFile()) {
      throw new RefusedCall('EISDIR', `${path} is no file`);
    }
    return readFileSync(descriptor);
  });
}

/** Closes the descriptor after the action; some file systems report a failed write only then. */
export function closing<T>(descriptor: number, action: () => T): T {
  let result: T;
  try {
    result = action();
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  closeSync(descriptor);
  return result;
}
