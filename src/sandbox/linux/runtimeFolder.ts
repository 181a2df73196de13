import { lstatSync, mkdirSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import { errorCode } from '../paths.ts';
import type { SandboxError } from '../sandboxManager.ts';

/**
 * The user's own folder for Cordon's run-time state, mode 0700: below `XDG_RUNTIME_DIR`, or else in the temporary
 * folder. Fails when it belongs to somebody else or others may look into it, because whoever can write there can
 * make Cordon remove empty folders.
 */
export function openRuntimeFolder(
  env: Readonly<Record<string, string | undefined>>,
  temporaryFolder: string,
): Result<string, SandboxError> {
  const uid = process.getuid?.() ?? 0;
  const session = env['XDG_RUNTIME_DIR'];
  const folder =
    session !== undefined && isAbsolute(session) && isPrivate(session, uid)
      ? join(session, 'cordon')
      : join(temporaryFolder, `cordon-${uid}`);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') {
      return unusable(folder, errorCode(error) ?? String(error));
    }
  }
  return isPrivate(folder, uid)
    ? ok(folder)
    : unusable(folder, 'it belongs to another user or is open to others');
}

function isPrivate(folder: string, uid: number): boolean {
  const entry = lstatSync(folder, { throwIfNoEntry: false });
  return entry?.isDirectory() === true && entry.uid === uid && (entry.mode & 0o077) === 0;
}

function unusable(folder: string, reason: string): Result<never, SandboxError> {
  return fail({
    kind: 'bubblewrap-failed',
    message: `The folder ${folder}, in which Cordon notes what it protects, cannot be used: ${reason}.`,
    hint: `Remove ${folder}, or make it yours alone (chown, chmod 700), and try again.`,
  });
}
