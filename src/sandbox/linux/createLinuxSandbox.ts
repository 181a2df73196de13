import { randomUUID } from 'node:crypto';
import { lstatSync, realpathSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname } from 'node:path';
import type { Log } from '../../base/log.ts';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import { isInside } from '../paths.ts';
import type { SandboxPolicy } from '../policy/policy.ts';
import type { Command, Launch, Launcher, SandboxError, SandboxReport } from '../sandboxManager.ts';
import { temporaryFolders } from '../temporaryFolders.ts';
import { bubblewrapMissing } from './bubblewrap/explainFailure.ts';
import { launcherArguments } from './bubblewrap/launcherArguments.ts';
import type { Surroundings } from './bubblewrap/gatherPlaces.ts';
import type { Machine } from './bubblewrap/machine.ts';
import { helperInside } from './bubblewrap/machine.ts';
import { planMounts } from './bubblewrap/mountPlan.ts';
import type { Bubblewrap } from './bubblewrap/probe.ts';
import { probeBubblewrap } from './bubblewrap/probe.ts';
import { openPrivateCaches, ownCacheFolder } from './cacheFolder.ts';
import { hiddenPaths, searchedTrees } from './hiddenPaths.ts';
import { canonicalSocket, hostSockets } from './hostSockets.ts';
import { Leases } from './leases.ts';
import { planLimits } from './planLimits.ts';
import type { RunProgram } from './runProgram.ts';
import { runProgram } from './runProgram.ts';
import { openRuntimeFolder } from './runtimeFolder.ts';
import { buildFilter } from './seccomp/filter.ts';
import { TreeIndexes } from './treeIndexes.ts';
import { withoutLoader } from './withoutLoader.ts';

export interface LinuxSandboxOptions {
  readonly helperPath: string;
  /** PATH on which bubblewrap is looked for. */
  readonly searchPath: string;
  readonly log: Log;
  /** Folders from which bubblewrap is never taken: the open roots and what else commands may write. */
  readonly untrustedFolders: () => readonly string[];
  /** More that later runs trust: the extension's folder. Read-only, should a writable root contain it. */
  readonly trustedPaths?: readonly string[];
  /** Where the leases of mount points are kept; by default below XDG_RUNTIME_DIR or the temporary folder. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly kernelVersion?: string;
  readonly run?: RunProgram;
}

/** What is needed to launch; found once. */
interface Ready {
  readonly bubblewrap: Bubblewrap;
  readonly machine: Machine;
  readonly leases: Leases;
  readonly trees: TreeIndexes;
}

/** Confines commands with bubblewrap, seccomp and the companion program. Handles confined policies only. */
export function createLinuxSandbox(options: LinuxSandboxOptions): Launcher {
  const filter = buildFilter();
  const trees = new TreeIndexes();
  const state: { ready?: Promise<Result<Ready, SandboxError>> } = {};

  const prepare = async (): Promise<Result<Ready, SandboxError>> => {
    const bubblewrap = await probeBubblewrap({
      searchPath: options.searchPath,
      untrustedFolders: options.untrustedFolders(),
      helperPath: options.helperPath,
      kernelVersion: options.kernelVersion,
      filter,
      run: options.run ?? runProgram,
    });
    if (!bubblewrap.ok) {
      options.log.warn(`sandbox: ${bubblewrap.error.kind}: ${bubblewrap.error.message}`);
      return bubblewrap;
    }
    const runtimeFolder = openRuntimeFolder(options.environment ?? process.env, tmpdir());
    if (!runtimeFolder.ok) {
      return runtimeFolder;
    }
    const leases = await openLeases(runtimeFolder.value, options);
    if (!leases.ok) {
      return leases;
    }
    options.log.info(`sandbox: bubblewrap ${bubblewrap.value.version} at ${bubblewrap.value.path}`);
    const machine = describeMachine(options, bubblewrap.value.path, runtimeFolder.value);
    return ok({ bubblewrap: bubblewrap.value, machine, leases: leases.value, trees });
  };

  const ready = (isAgain = false): Promise<Result<Ready, SandboxError>> => {
    if (isAgain || state.ready === undefined) {
      state.ready = prepare();
    }
    return state.ready;
  };

  return {
    async check(refresh) {
      const result = await ready(refresh);
      return result.ok ? ok(describe(result.value.bubblewrap)) : result;
    },
    async transform(policy, command) {
      const result = await ready();
      return result.ok ? launch(result.value, policy, command, filter, options.log) : result;
    },
  };
}

function describe({ path, version, features, landlockVersion }: Bubblewrap): SandboxReport {
  return {
    launcher: 'bubblewrap',
    path,
    version,
    landlockVersion,
    companionInside: helperInside,
    weaknesses: [
      ...(features.disableUserns
        ? []
        : ['Before bubblewrap 0.8 the system call filter alone keeps commands from making user namespaces.']),
      ...(landlockVersion >= scopesSince
        ? []
        : [
            'With the network on, commands reach abstract Unix sockets of the machine: that takes Linux 6.12.',
          ]),
    ],
    losses: [],
  };
}

/** Of Landlock: what keeps abstract sockets apart. */
const scopesSince = 6;

async function launch(
  { bubblewrap, machine, leases, trees }: Ready,
  policy: SandboxPolicy,
  command: Command,
  filter: Uint8Array,
  log: Log,
): Promise<Result<Launch, SandboxError>> {
  // The root may have been opened after bubblewrap was found.
  if (isInside(bubblewrap.path, policy.root)) {
    return fail(bubblewrapMissing);
  }
  const cwd = canonical(command.cwd);
  const around = await lookAround(policy, machine, trees);
  if (!around.ok) {
    return around;
  }
  const plan = planMounts(policy, cwd, machine, around.value);
  if (!plan.ok) {
    return plan;
  }
  const { existing, missing, traps } = plan.value.protectedPaths;
  // An existing name may be the mount point of a parallel run.
  const held = [...missing, ...existing.filter((path) => leases.isMountPoint(path))];
  const run = randomUUID();
  const limits = planLimits(policy, run);
  if (!limits.ok) {
    return limits;
  }
  const argv = launcherArguments({
    bubblewrapPath: bubblewrap.path,
    features: bubblewrap.features,
    helperPath: machine.helperPath,
    network: policy.network,
    mounts: [...plan.value.mounts, ...held.map((path) => ({ path, kind: 'empty' }) as const)],
    tasks: { folder: leases.folder, run, held, traps, groups: limits.value.groups },
    limits: limits.value.ofProcess,
    filter,
    command,
    cwd,
  });
  const release = async (): Promise<void> => {
    if (!(await leases.settled(run))) {
      log.warn(`sandbox: the keeper of a run in ${policy.root} was killed; the next start cleans up`);
    }
    for (const path of traps.filter((path) => removeFile(path) || leases.takeNote(path))) {
      log.warn(`sandbox: removed ${path}, with which a command tried to redirect git`);
    }
  };
  return ok({ argv, cwd, env: withoutLoader(command.env), sandbox: 'bubblewrap', release });
}

/** What only the machine knows at this moment. */
async function lookAround(
  policy: SandboxPolicy,
  machine: Machine,
  trees: TreeIndexes,
): Promise<Result<Surroundings, SandboxError>> {
  const findings = await trees.read(searchedTrees(policy), policy.hidden);
  if (!findings.ok) {
    return findings;
  }
  const around = {
    hidden: hiddenPaths(policy, findings.value),
    openedSockets: policy.sockets.map(canonicalSocket).filter((path) => path !== undefined),
    sockets: hostSockets(),
  };
  if (policy.caches !== 'private' || policy.mode === 'read-only') {
    return ok(around);
  }
  const caches = openPrivateCaches(machine.cacheFolder, policy.root);
  return caches.ok ? ok({ ...around, privateCaches: caches.value }) : caches;
}

/** True when there was a file (or a link) to remove. */
function removeFile(path: string): boolean {
  const isThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  rmSync(path, { force: true });
  return isThere;
}

/** Without leases nothing runs: parallel runs would take each other's protection away. */
async function openLeases(
  runtimeFolder: string,
  { helperPath, run = runProgram }: LinuxSandboxOptions,
): Promise<Result<Leases, SandboxError>> {
  try {
    const leases = new Leases(runtimeFolder);
    await leases.sweep(helperPath, run);
    return ok(leases);
  } catch (error) {
    return fail({
      kind: 'bubblewrap-failed',
      message: `Cordon could not note which names it protects in ${runtimeFolder}: ${String(error)}.`,
      hint: 'Check free space and permissions of that folder.',
    });
  }
}

function describeMachine(
  options: LinuxSandboxOptions,
  bubblewrapPath: string,
  runtimeFolder: string,
): Machine {
  const helperPath = canonical(options.helperPath);
  const environment = options.environment ?? process.env;
  const homeFolder = canonical(environment['HOME'] ?? homedir());
  return {
    helperPath,
    homeFolder,
    cacheFolder: ownCacheFolder(homeFolder, environment),
    runtimeFolder: canonical(runtimeFolder),
    temporaryFolders: temporaryFolders(),
    trustedPaths: [dirname(helperPath), bubblewrapPath, process.execPath, ...(options.trustedPaths ?? [])]
      .map(canonicalIfAny)
      .filter((path) => path !== undefined),
    // The build's folder, which has the program `apply_patch`, and what runs that.
    programPaths: [dirname(dirname(helperPath)), canonical(process.execPath)],
  };
}

function canonicalIfAny(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    // Not on this machine.
    return undefined;
  }
}

function canonical(path: string): string {
  return canonicalIfAny(path) ?? path;
}
