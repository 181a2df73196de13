import { randomUUID } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { tmpdir, release, version } from 'node:os';
import { dirname } from 'node:path';
import type { Log } from '../../base/log.ts';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import { Aftermath } from '../aftermath/aftermath.ts';
import type { Finding } from '../aftermath/finding.ts';
import { removedRedirect } from '../aftermath/finding.ts';
import { isInside } from '../paths.ts';
import { accessTo } from '../policy/fileRules.ts';
import type { SandboxPolicy } from '../policy/policy.ts';
import { writableRoots } from '../policy/policy.ts';
import { systemFolders } from '../policy/systemFolders.ts';
import type { Command, Launch, SandboxError, SandboxManager } from '../sandboxManager.ts';
import { temporaryFolders } from '../temporaryFolders.ts';
import { bubblewrapMissing } from './bubblewrap/explainFailure.ts';
import { launcherArguments } from './bubblewrap/launcherArguments.ts';
import type { Machine } from './bubblewrap/mountPlan.ts';
import { planMounts } from './bubblewrap/mountPlan.ts';
import type { Bubblewrap } from './bubblewrap/probe.ts';
import { probeBubblewrap } from './bubblewrap/probe.ts';
import { Leases } from './leases.ts';
import type { RunProgram } from './runProgram.ts';
import { runProgram } from './runProgram.ts';
import { openRuntimeFolder } from './runtimeFolder.ts';
import { buildFilter } from './seccomp/filter.ts';
import { TreeIndexes } from './treeIndexes.ts';

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
export function createLinuxSandbox(options: LinuxSandboxOptions): SandboxManager {
  const filter = buildFilter();
  const state: { ready?: Promise<Result<Ready, SandboxError>> } = {};

  const prepare = async (): Promise<Result<Ready, SandboxError>> => {
    const bubblewrap = await probeBubblewrap({
      searchPath: options.searchPath,
      untrustedFolders: options.untrustedFolders(),
      helperPath: options.helperPath,
      kernelVersion: options.kernelVersion ?? `${release()} ${version()}`,
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
    return ok({ bubblewrap: bubblewrap.value, machine, leases: leases.value, trees: new TreeIndexes() });
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
      return result.ok
        ? ok({
            launcher: 'bubblewrap',
            path: result.value.bubblewrap.path,
            version: result.value.bubblewrap.version,
          })
        : result;
    },
    async transform(policy, command) {
      const result = await ready();
      return result.ok ? launch(result.value, policy, command, filter, options.log) : result;
    },
  };
}

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
  const roots = writableRoots(policy).filter(
    (root) => !systemFolders.some((folder) => isInside(root, folder)),
  );
  const tree = await trees.read(roots, policy.hidden);
  if (!tree.ok) {
    return tree;
  }
  const plan = planMounts(policy, cwd, machine, tree.value);
  if (!plan.ok) {
    return plan;
  }
  const { existing, missing, guards } = plan.value.protectedPaths;
  const traps = guards.filter(({ expected }) => expected.kind === 'absent').map(({ path }) => path);
  // An existing name may be the mount point of a parallel run.
  const held = [...missing, ...existing.filter((path) => leases.isMountPoint(path))];
  const run = randomUUID();
  const argv = launcherArguments({
    bubblewrapPath: bubblewrap.path,
    features: bubblewrap.features,
    helperPath: machine.helperPath,
    network: policy.network,
    mounts: [
      ...plan.value.mounts,
      ...existing.map((path) => ({ path, kind: 'read' }) as const),
      ...held.map((path) => ({ path, kind: 'empty' }) as const),
    ],
    leaseFolder: leases.folder,
    tasks: { run, held, traps, groups: [] },
    limits: policy.limits,
    filter,
    command,
    cwd,
  });
  const aftermath = new Aftermath({
    ...plan.value.protectedPaths,
    roots,
    before: tree.value,
    isWritable: (path) => accessTo(policy, path) === 'write',
  });
  const release = async (): Promise<readonly Finding[]> => {
    if (!(await leases.settled(run))) {
      log.warn(`sandbox: the keeper of a run in ${policy.root} was killed; the next start cleans up`);
    }
    const after = await trees.read(roots, policy.hidden);
    const removed = traps.filter((path) => leases.takeNote(path));
    const findings = [...removed.map(removedRedirect), ...aftermath.end(after.ok ? after.value : tree.value)];
    findings.forEach(({ message }) => log.warn(`sandbox: ${message}`));
    return findings;
  };
  return ok({ argv, cwd, env: withoutLoader(command.env), sandbox: 'bubblewrap', release });
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
  return {
    helperPath,
    runtimeFolder: canonical(runtimeFolder),
    temporaryFolders: temporaryFolders(),
    trustedPaths: [dirname(helperPath), bubblewrapPath, process.execPath, ...(options.trustedPaths ?? [])]
      .map(canonicalIfAny)
      .filter((path) => path !== undefined),
    // The build's folder, which has the program `apply_patch`, and what runs that.
    programPaths: [dirname(dirname(helperPath)), canonical(process.execPath)],
  };
}

/** The dynamic loader would obey them in bubblewrap, before anything is confined. */
function withoutLoader(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(LD|DYLD)_/i.test(name)));
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
