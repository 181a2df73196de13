import { release } from 'node:os';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import type { ResourceLimits } from '../policy/limits.ts';
import type { SandboxPolicy } from '../policy/policy.ts';
import type { SandboxError } from '../sandboxManager.ts';
import type { ControlGroups } from './controlGroups.ts';
import { findControlGroups, groupLimits } from './controlGroups.ts';
import type { GroupLimit } from './keeper.ts';

/** How the limits of a policy are kept: by the kernel's limits of each process, and of groups of them. */
export interface LimitPlan {
  readonly ofProcess: ResourceLimits;
  readonly groups: readonly GroupLimit[];
}

/** What of this machine decides on limits. */
export interface LimitMeans {
  readonly groups: ControlGroups;
  readonly isRoot: boolean;
  /** As `uname -r` has it. */
  readonly kernelRelease: string;
}

/**
 * A limit on processes that a person has set is kept or nothing runs; that of the defaults is kept where the kernel's
 * own limits can: root is exempt from them, and before Linux 5.14 they count what the user runs elsewhere, too. For
 * limits that nobody asked for no control group is made, because joining one costs a command several milliseconds.
 */
export function planLimits(
  policy: SandboxPolicy,
  run: string,
  means: LimitMeans = meansOfThisMachine(policy),
): Result<LimitPlan, SandboxError> {
  const { processes, ...others } = policy.limits;
  const isAskedFor = policy.sources.limits !== 'default';
  const groups = isAskedFor ? groupLimits(means.groups, policy.limits, run) : [];
  const isCounted = !means.isRoot && isSince(means.kernelRelease, 5, 14);
  const hasGroup = means.groups.processes !== undefined;
  if (processes !== undefined && !isCounted && !hasGroup && isAskedFor) {
    return fail({
      kind: 'clause-unenforceable',
      message: `The limit of ${processes} processes cannot be kept: this user may not make a control group for it.`,
      hint: `${means.isRoot ? 'Run Cordon as an ordinary user' : 'Use Linux 5.14 or later'}, or set cordon.sandbox.limits.processes to null.`,
    });
  }
  const ofProcess = isCounted && processes !== undefined ? { processes, ...others } : others;
  return ok({ ofProcess, groups });
}

function meansOfThisMachine({ limits, sources }: SandboxPolicy): LimitMeans {
  const isNeeded =
    sources.limits !== 'default' && (limits.processes !== undefined || limits.memoryMiB !== undefined);
  return {
    groups: isNeeded ? findControlGroups() : {},
    isRoot: process.getuid?.() === 0,
    kernelRelease: release(),
  };
}

function isSince(kernelRelease: string, major: number, minor: number): boolean {
  const [ownMajor = 0, ownMinor = 0] = kernelRelease.split('.').map((part) => Number.parseInt(part, 10));
  return ownMajor > major || (ownMajor === major && ownMinor >= minor);
}
