import { realpathSync } from 'node:fs';
import type { SandboxPolicy } from '../sandbox/policy/policy.ts';
import { isUnsandboxed } from '../sandbox/policy/policy.ts';
import { temporaryFolders } from '../sandbox/temporaryFolders.ts';
import type { WriteAccess } from '../sandbox/writeAccess.ts';
import { writeAccess } from '../sandbox/writeAccess.ts';

/** What a policy lets patches write: what it lets commands write on this machine. */
export type AccessUnder = (policy: SandboxPolicy) => WriteAccess;

/**
 * The judge of patches on this machine. `trustedPaths` are what later runs trust, such as the extension's folder:
 * not to be written, should a writable root contain them. The program that runs this is always one of them.
 */
export function createAccessUnder(trustedPaths: readonly string[] = []): AccessUnder {
  const temporary = temporaryFolders();
  const trusted = [process.execPath, ...trustedPaths].flatMap(canonical);
  return (policy) => writeAccess(policy, temporary, trusted);
}

/**
 * The policy that judges the writes of a patch where somebody can have a look: what leaves the folder is told even
 * where everything is allowed.
 */
export function watchedPolicy(policy: SandboxPolicy): SandboxPolicy {
  return isUnsandboxed(policy) ? { ...policy, mode: 'workspace-write' } : policy;
}

function canonical(path: string): string[] {
  try {
    return [realpathSync(path)];
  } catch {
    // It does not exist, so nothing trusts it.
    return [];
  }
}
