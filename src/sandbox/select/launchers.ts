import type { PolicyClause, SandboxPolicy } from '../policy/policy.ts';
import type { LauncherName, SandboxError } from '../sandboxManager.ts';
import { landlockLimits } from '../linux/landlock/limits.ts';

/** Something of the machine that a limit may depend on. */
export interface MachineFacts {
  /** Commands run as uid 0. */
  readonly isRoot: boolean;
}

/** A part of a policy that a launcher cannot enforce. */
export interface Limit {
  readonly clause: PolicyClause;
  readonly applies: (policy: SandboxPolicy, machine: MachineFacts) => boolean;
  /** Half a sentence: why not. */
  readonly reason: string;
  /** Half a sentence: the nearest policy that can be enforced. */
  readonly nearest: string;
}

/** One way to confine commands on a platform. */
export type LauncherEntry = { readonly title: string; readonly platform: NodeJS.Platform } & (
  | { readonly launcher: LauncherName; readonly limits: readonly Limit[] }
  /** Known, and not in this version: why. */
  | { readonly missing: SandboxError }
);

const otherPlatforms =
  'Use Linux, WSL 2 or a remote Linux machine, or choose danger-full-access for this root.';

/**
 * Every launcher, the best of a platform first. A policy gets the first that works on the machine and has no limit
 * that applies; when there is none, nothing runs.
 */
export const launchers: readonly LauncherEntry[] = [
  { title: 'bubblewrap', platform: 'linux', launcher: 'bubblewrap', limits: [] },
  { title: 'Landlock', platform: 'linux', launcher: 'landlock', limits: landlockLimits },
  { title: 'Seatbelt', platform: 'darwin', missing: notYet('macOS', 'Seatbelt') },
  { title: 'restricted token', platform: 'win32', missing: notYet('Windows', 'a restricted token') },
];

/** What a platform gets that is in no line of the table. */
export function unknownPlatform(platform: NodeJS.Platform): SandboxError {
  return {
    kind: 'platform-unsupported',
    message: `Cordon knows no sandbox for ${platform}.`,
    hint: otherPlatforms,
  };
}

function notYet(platform: string, launcher: string): SandboxError {
  return {
    kind: 'platform-unsupported',
    message: `On ${platform} commands are to be confined with ${launcher}, which this version of Cordon cannot do yet.`,
    hint: otherPlatforms,
  };
}
