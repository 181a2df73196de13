import { accessSync, constants } from 'node:fs';
import type { Result } from '../../../base/result.ts';
import { fail, ok } from '../../../base/result.ts';
import type { SandboxError } from '../../sandboxManager.ts';
import type { ProgramResult, RunProgram } from '../runProgram.ts';
import { bubblewrapMissing, explainFailure, helperMissing, isWsl1, wsl1 } from './explainFailure.ts';
import type { SystemFacts } from './systemFacts.ts';
import { readSystemFacts } from './systemFacts.ts';
import { findBubblewrap } from './findBubblewrap.ts';
import type { BubblewrapFeatures } from './launcherArguments.ts';
import { launcherArguments } from './launcherArguments.ts';
import { helperInside } from './machine.ts';
import type { Mount } from './mounts.ts';

/** A bubblewrap that has been seen to work here. */
export interface Bubblewrap {
  readonly path: string;
  readonly version: string;
  readonly features: BubblewrapFeatures;
  /** What the kernel offers for the companion's scopes; 0 when it has no Landlock. */
  readonly landlockVersion: number;
}

export interface ProbeInput {
  readonly searchPath: string;
  readonly untrustedFolders: readonly string[];
  readonly helperPath: string;
  /** By default this machine's. */
  readonly kernelVersion: string | undefined;
  /** The seccomp program, in hexadecimal. */
  readonly filter: string;
  readonly run: RunProgram;
  /** By default this machine's. */
  readonly system?: SystemFacts;
  /** Leaves the mounts to it even where the companion program could make them. */
  readonly mountedBy?: 'bubblewrap';
}

const probeMounts = (helperPath: string): Mount[] => [
  { path: '/', kind: 'read' },
  { path: '/dev', kind: 'devices' },
  { path: '/proc', kind: 'processes' },
  { path: '/proc/sys', kind: 'read' },
  { path: '/run', kind: 'scratch' },
  { path: helperInside, kind: 'read', source: helperPath },
];

/** Finds bubblewrap and starts one real sandbox with every defence; says which cause stops it otherwise. */
export async function probeBubblewrap(input: ProbeInput): Promise<Result<Bubblewrap, SandboxError>> {
  const { helperPath, run } = input;
  if (isWsl1(input.kernelVersion)) {
    return fail(wsl1);
  }
  if (!isExecutable(helperPath)) {
    return fail(helperMissing(helperPath));
  }
  const path = findBubblewrap(input.searchPath, input.untrustedFolders);
  if (path === undefined) {
    return fail(bubblewrapMissing);
  }
  const [help, version, landlock] = await Promise.all([
    run(path, ['--help']),
    run(path, ['--version']),
    run(helperPath, ['--landlock-version']),
  ]);
  const options = help.stdout + help.stderr;
  const usual = {
    disableUserns: options.includes('--disable-userns'),
    perms: options.includes('--perms'),
  };
  const start = async (features: BubblewrapFeatures): Promise<ProgramResult> => {
    const [file = '', ...args] = launcherArguments({
      bubblewrapPath: path,
      features,
      helperPath,
      network: 'off',
      mounts: probeMounts(helperPath),
      limits: {},
      filter: input.filter,
      command: { argv: [helperInside, '--check'], tty: false },
      cwd: '/',
    });
    return run(file, args);
  };
  // Older kernels, some containers and AppArmor's profile for unprivileged bubblewrap leave the mounts to bubblewrap.
  const companionMounts =
    input.mountedBy !== 'bubblewrap' && (await start({ ...usual, companionMounts: true })).exitCode === 0;
  const features = { ...usual, companionMounts };
  if (!companionMounts) {
    const trial = await start(features);
    if (trial.exitCode !== 0) {
      return fail(explainFailure(trial, path, input.system ?? readSystemFacts()));
    }
  }
  return ok({
    path,
    version: /\d+(\.\d+)+/.exec(version.stdout)?.[0] ?? 'unknown',
    features,
    landlockVersion: landlock.exitCode ?? 0,
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Missing or not executable are told alike to the user.
    return false;
  }
}
