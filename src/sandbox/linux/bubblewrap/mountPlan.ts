import { lstatSync, realpathSync } from 'node:fs';
import type { Result } from '../../../base/result.ts';
import { fail, ok } from '../../../base/result.ts';
import { isBelow, isInside } from '../../paths.ts';
import type { SandboxPolicy } from '../../policy/policy.ts';
import { runFolder, systemFolders } from '../../policy/systemFolders.ts';
import type { SandboxError } from '../../sandboxManager.ts';
import type { Mount } from './mounts.ts';
import type { ProtectedPaths, ProtectedTree } from './protectedPaths.ts';
import { findProtectedPaths } from './protectedPaths.ts';

/** Where the launcher's companion is inside every sandbox. */
export const helperInside = '/run/cordon/launch';

/** Where the network proxy's socket is inside a sandbox with an allow-list; the companion's `--connect` knows it, too. */
export const proxyInside = '/run/cordon/proxy.sock';

/** Canonical places of this machine; they do not change while Cordon runs. */
export interface Machine {
  readonly helperPath: string;
  /** Cordon's notes about runs: never visible inside. */
  readonly runtimeFolder: string;
  /** `/tmp` and `/var/tmp`, as far as they exist. */
  readonly temporaryFolders: readonly string[];
  /** Programs and folders that later runs trust: read-only, should a writable root contain them. */
  readonly trustedPaths: readonly string[];
  /** What commands may run of Cordon's own: read-only and visible, should it lie in a folder that is hidden. */
  readonly programPaths: readonly string[];
}

/** The mounts of a policy, unordered, and what needs a claim before it can be decided. */
export interface MountPlan {
  readonly mounts: readonly Mount[];
  readonly protectedPaths: ProtectedPaths;
}

/** NixOS and Guix keep every program behind this link, the shell included. */
const systemProfile = '/run/current-system';

/**
 * What the command sees of the file system: everything, read-only; the policy's roots, writable where the mode says
 * so; fresh `/dev`, `/proc`, `/run`; and with a private tmp an empty `/tmp`. Host sockets live in `/run` and `/tmp`.
 */
export function planMounts(
  policy: SandboxPolicy,
  cwd: string,
  machine: Machine,
  tree: ProtectedTree,
): Result<MountPlan, SandboxError> {
  const named = policy.files.filter(({ path, access }) => path !== '/' || access === 'write');
  const opening = [...new Set([policy.root, ...named.map(({ path }) => path)])];
  const unusable = opening.find(
    (root) => root === runFolder || systemFolders.some((folder) => isInside(root, folder)),
  );
  if (unusable !== undefined) {
    return fail({
      kind: 'clause-unenforceable',
      message: `${unusable} cannot be a writable root: the sandbox has its own /dev, /proc and /run.`,
      hint: 'Take it out of cordon.sandbox.writableRoots.',
    });
  }
  const roots = opening.filter((root, index) => index === 0 || exists(root));
  const isWritable = policy.mode === 'workspace-write';
  const hiddenFolders = [runFolder, ...(policy.tmp === 'private' ? machine.temporaryFolders : [])];
  if (!roots.some((root) => isInside(cwd, root)) && hiddenFolders.some((folder) => isBelow(cwd, folder))) {
    return fail(hiddenFolder(cwd));
  }
  const protectedPaths = findProtectedPaths(
    policy,
    tree,
    isWritable && policy.tmp === 'shared' ? machine.temporaryFolders : [],
  );
  const opened = isWritable ? [...roots, ...(policy.tmp === 'shared' ? machine.temporaryFolders : [])] : [];
  const shown = isWritable
    ? []
    : roots.filter((root) => hiddenFolders.some((folder) => isInside(root, folder)));
  const covered = (path: string): boolean => opened.some((root) => isBelow(path, root));
  const hidden = (path: string): boolean =>
    !covered(path) && hiddenFolders.some((folder) => isBelow(path, folder));
  return ok({
    mounts: [
      ...(opened.includes('/') ? [] : [{ path: '/', kind: 'read' } as const]),
      { path: '/dev', kind: 'devices' },
      { path: '/proc', kind: 'processes' },
      ...kernelSettings.filter(exists).map((path) => ({ path, kind: 'read' }) as const),
      ...hiddenFolders.map((path) => ({ path, kind: 'scratch' }) as const),
      { path: helperInside, kind: 'read', source: machine.helperPath },
      ...(exists(systemProfile) ? [{ path: systemProfile, kind: 'read' } as const] : []),
      ...(policy.network === 'on' ? resolverMounts() : []),
      ...shown.map((path) => ({ path, kind: 'read' }) as const),
      ...opened.map((path) => ({ path, kind: 'write' }) as const),
      ...machine.programPaths.filter(hidden).map((path) => ({ path, kind: 'read' }) as const),
      ...machine.trustedPaths.filter(covered).map((path) => ({ path, kind: 'read' }) as const),
      ...protectedPaths.outside.map(({ path, access }) => ({ path, kind: access }) as const),
      ...(covered(machine.runtimeFolder) ? [{ path: machine.runtimeFolder, kind: 'empty' } as const] : []),
    ],
    protectedPaths,
  });
}

/**
 * A fresh procfs lets uid 0 write these, whatever its capabilities: the files check the user. bubblewrap covers only
 * some of them (reference §5.8: `core_pattern` is code execution on the machine).
 */
const kernelSettings = [
  '/proc/sys',
  '/proc/sysrq-trigger',
  '/proc/irq',
  '/proc/bus',
  '/proc/fs',
  '/proc/scsi',
];

/** systemd keeps the file that `/etc/resolv.conf` leads to in `/run`. */
function resolverMounts(): Mount[] {
  try {
    const path = realpathSync('/etc/resolv.conf');
    return isBelow(path, runFolder) ? [{ path, kind: 'read' }] : [];
  } catch {
    // No resolver configuration outside, so there is none inside.
    return [];
  }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function hiddenFolder(cwd: string): SandboxError {
  return {
    kind: 'clause-unenforceable',
    message: `The folder ${cwd} is not visible in the sandbox, which has its own /run and a private /tmp.`,
    hint: 'Run the command in a root, add the folder to cordon.sandbox.writableRoots, or set cordon.sandbox.tmp to "shared".',
  };
}
