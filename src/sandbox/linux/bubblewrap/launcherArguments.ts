import type { Command } from '../../sandboxManager.ts';
import type { NetworkMode } from '../../policy/policy.ts';
import type { Mount } from './mounts.ts';
import { mountArguments, orderMounts } from './mounts.ts';
import { helperInside } from './mountPlan.ts';

/** Options that not every bubblewrap has. */
export interface BubblewrapFeatures {
  /** Since 0.8. Without it the seccomp filter alone stops new user namespaces. */
  readonly disableUserns: boolean;
  /** Since 0.5. */
  readonly perms: boolean;
}

export interface LauncherInput {
  readonly bubblewrapPath: string;
  readonly features: BubblewrapFeatures;
  readonly helperPath: string;
  readonly network: NetworkMode;
  readonly mounts: readonly Mount[];
  readonly filter: Uint8Array;
  readonly command: Pick<Command, 'argv' | 'tty'>;
  /** Canonical. */
  readonly cwd: string;
}

/**
 * The whole argv of a confined command: companion (closes descriptors) → bubblewrap (namespaces, mounts) → companion
 * (process 1: seccomp, process group) → command.
 */
export function launcherArguments(input: LauncherInput): string[] {
  const { features, command } = input;
  return [
    ...[input.helperPath, '--outer', '--', input.bubblewrapPath],
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...(input.network !== 'on' ? ['--unshare-net'] : []),
    ...(features.disableUserns ? ['--disable-userns'] : []),
    ...['--die-with-parent', '--as-pid-1'],
    // With a terminal the command must stay in its session, or it has no job control; TIOCSTI is filtered.
    ...(command.tty ? [] : ['--new-session']),
    ...['--cap-drop', 'ALL'],
    ...orderMounts(input.mounts).flatMap((mount) => mountArguments(mount, features.perms)),
    ...['--remount-ro', '/run'],
    ...['--chdir', input.cwd],
    ...['--', helperInside, '--seccomp', Buffer.from(input.filter).toString('hex')],
    ...(command.tty ? ['--foreground'] : []),
    ...['--', ...command.argv],
  ];
}
