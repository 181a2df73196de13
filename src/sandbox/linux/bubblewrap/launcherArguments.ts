import type { Command } from '../../sandboxManager.ts';
import { proxyPort } from '../../network/proxyVariables.ts';
import type { NetworkMode } from '../../policy/policy.ts';
import type { ResourceLimits } from '../../policy/limits.ts';
import type { KeeperTasks } from '../keeper.ts';
import { keeperArguments } from '../keeper.ts';
import { companionGround, companionMounts } from './companionMounts.ts';
import { helperInside, proxyInside } from './machine.ts';
import type { Mount } from './mounts.ts';
import { closingArguments, mountArguments, orderMounts } from './mounts.ts';
import { watchedMasks } from './watchedMasks.ts';

/** Options that not every bubblewrap has. */
export interface BubblewrapFeatures {
  /** Since 0.8. Without it the seccomp filter alone stops new user namespaces. */
  readonly disableUserns: boolean;
  /** Since 0.5. */
  readonly perms: boolean;
  /** The companion program can make the mounts: since Linux 5.12, where nothing else forbids it. */
  readonly companionMounts: boolean;
}

export interface LauncherInput {
  readonly bubblewrapPath: string;
  readonly features: BubblewrapFeatures;
  readonly helperPath: string;
  readonly network: NetworkMode;
  readonly mounts: readonly Mount[];
  /** For the keeper; which masks to watch follows from the mounts. Absent: there is none. */
  readonly tasks?: Omit<KeeperTasks, 'masks'>;
  readonly limits: ResourceLimits;
  /** The seccomp program, in hexadecimal. */
  readonly filter: string;
  readonly command: Pick<Command, 'argv' | 'arg0' | 'tty'>;
  /** Canonical. */
  readonly cwd: string;
}

/**
 * The whole argv of a confined command: companion (closes descriptors) → bubblewrap (namespaces) → companion (process
 * 1: mounts, unless bubblewrap made them; seccomp, process group) → command.
 */
export function launcherArguments(input: LauncherInput): string[] {
  const { features, command, tasks } = input;
  const mounts = orderMounts(input.mounts);
  const masks = watchedMasks(mounts).filter(({ path }) => tasks?.held.includes(path) !== true);
  const keeper = tasks === undefined ? [] : keeperArguments({ ...tasks, masks });
  // bubblewrap needs the mount points that the keeper makes, unless the companion makes the mounts.
  const isBeside = tasks !== undefined && features.companionMounts;
  const beside = isBeside ? ['--beside'] : [];
  const grouped = isBeside && tasks.groups.length > 0 ? ['--grouped'] : [];
  return [
    ...[
      input.helperPath,
      '--outer',
      '--runtime',
      String(process.pid),
      ...keeper,
      ...beside,
      '--',
      input.bubblewrapPath,
    ],
    ...['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...(input.network !== 'on' ? ['--unshare-net'] : []),
    ...(features.disableUserns && !features.companionMounts ? ['--disable-userns'] : []),
    ...['--die-with-parent', '--as-pid-1'],
    // With a terminal the command must stay in its session, or it has no job control; TIOCSTI is filtered.
    ...(command.tty ? [] : ['--new-session']),
    ...(features.companionMounts ? companionGround : bubblewrapMounts(mounts, features)),
    ...['--chdir', input.cwd, '--', features.companionMounts ? input.helperPath : helperInside],
    ...['--seccomp', input.filter],
    ...limitArguments(input.limits),
    ...(input.network === 'allow-list' ? ['--bridge', String(proxyPort), proxyInside] : []),
    ...(command.tty ? ['--foreground'] : []),
    ...(command.arg0 === undefined ? [] : ['--arg0', command.arg0]),
    ...(tasks === undefined ? [] : ['--kept', ...beside, ...grouped]),
    ...(features.companionMounts ? ['--last-namespace', ...companionMounts(mounts)] : []),
    ...['--', ...command.argv],
  ];
}

function bubblewrapMounts(mounts: readonly Mount[], { perms }: BubblewrapFeatures): string[] {
  return [
    ...['--cap-drop', 'ALL'],
    ...mounts.flatMap((mount) => mountArguments(mount, perms)),
    ...closingArguments(mounts),
  ];
}

const mebibyte = 1024 * 1024;

/** What the companion is told about the policy's limits. */
export function limitArguments({ processes, memoryMiB, fileSizeMiB, cpuSeconds }: ResourceLimits): string[] {
  const limits = [
    ['processes', processes],
    ['memory', memoryMiB && memoryMiB * mebibyte],
    ['file-size', fileSizeMiB && fileSizeMiB * mebibyte],
    ['cpu', cpuSeconds],
  ] as const;
  return limits.flatMap(([name, value]) => (value === undefined ? [] : ['--limit', name, String(value)]));
}
