import { accessSync, constants, lstatSync, mkdirSync, statfsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import { errorCode, isInside } from '../paths.ts';
import { systemFolders } from '../policy/systemFolders.ts';
import type { SandboxError } from '../sandboxManager.ts';
import { canonicalPath } from './bubblewrap/disk.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The user's own folder for Cordon's run-time state, mode 0700: below `XDG_RUNTIME_DIR`, or else in the temporary
 * folder. Fails when it belongs to somebody else or others may look into it.
 */
export function openRuntimeFolder(env: Environment, temporaryFolder: string): Result<string, SandboxError> {
  return openOwn(ofSession(env) ?? join(shownToSandboxes(temporaryFolder), ofUser()));
}

/**
 * The same for what the companion program makes and removes with every command: in memory where there is no session,
 * because some disks take a millisecond to make a few files. Whoever can write there can make Cordon remove empty folders.
 */
export function openLeaseFolder(
  env: Environment,
  temporaryFolder: string,
  memory = '/dev/shm',
): Result<string, SandboxError> {
  return openOwn(ofSession(env) ?? join(isMemory(memory) ? memory : temporaryFolder, ofUser()));
}

const ofUser = (): string => `cordon-${process.getuid?.() ?? 0}`;

function ofSession(env: Environment): string | undefined {
  const session = env['XDG_RUNTIME_DIR'] ?? '';
  return isAbsolute(session) && !isOfSystem(session) && isPrivate(session)
    ? join(session, 'cordon')
    : undefined;
}

/** Some have their temporary files in `/dev/shm`. */
function shownToSandboxes(temporaryFolder: string): string {
  return isOfSystem(temporaryFolder) ? '/tmp' : temporaryFolder;
}

/** Sandboxes have a `/dev` of their own, so that nothing in the machine's can be shown to them. */
function isOfSystem(path: string): boolean {
  const canonical = canonicalPath(path) ?? path;
  return systemFolders.some((folder) => isInside(canonical, folder));
}

/** `TMPFS_MAGIC` of linux/magic.h. */
const memoryType = 0x01021994;

function isMemory(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return statfsSync(folder).type === memoryType;
  } catch {
    // Not on this machine, or not for this user.
    return false;
  }
}

function openOwn(folder: string): Result<string, SandboxError> {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') {
      return unusable(folder, errorCode(error) ?? String(error));
    }
  }
  return isPrivate(folder) ? ok(folder) : unusable(folder, 'it belongs to another user or is open to others');
}

function isPrivate(folder: string): boolean {
  const entry = lstatSync(folder, { throwIfNoEntry: false });
  return entry?.isDirectory() === true && entry.uid === process.getuid?.() && (entry.mode & 0o077) === 0;
}

function unusable(folder: string, reason: string): Result<never, SandboxError> {
  return fail({
    kind: 'bubblewrap-failed',
    message: `The folder ${folder}, in which Cordon notes what it protects, cannot be used: ${reason}.`,
    hint: `Remove ${folder}, or make it yours alone (chown, chmod 700), and try again.`,
  });
}
