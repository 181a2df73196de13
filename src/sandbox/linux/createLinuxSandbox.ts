import { randomUUID } from 'node:crypto';
import { homedir, tmpdir } from 'node:os';
import { dirname } from 'node:path';
import type { Log } from '../../base/log.ts';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import { Aftermath } from '../aftermath/aftermath.ts';
import type { Finding } from '../aftermath/finding.ts';
import { removedRedirect } from '../aftermath/finding.ts';
import type { DeniedCall } from '../denials/deniedCall.ts';
import type { NetworkAccess } from '../network/networkProxy.ts';
import { NetworkProxy } from '../network/networkProxy.ts';
import type { ProxyEndpoint } from '../network/proxyEndpoint.ts';
import { isInside } from '../paths.ts';
import { accessTo } from '../policy/fileRules.ts';
import type { SandboxPolicy } from '../policy/policy.ts';
import type { Command, HeldPaths, Launch, Launcher, SandboxError, SandboxReport } from '../sandboxManager.ts';
import { temporaryFolders } from '../temporaryFolders.ts';
import { tooManyArguments } from './bubblewrap/argumentLimits.ts';
import { canonicalPath } from './bubblewrap/disk.ts';
import { bubblewrapMissing } from './bubblewrap/explainFailure.ts';
import { launcherArguments } from './bubblewrap/launcherArguments.ts';
import type { Machine } from './bubblewrap/machine.ts';
import { helperInside, proxyInside } from './bubblewrap/machine.ts';
import { planMounts } from './bubblewrap/mountPlan.ts';
import type { Mount } from './bubblewrap/mounts.ts';
import type { Bubblewrap } from './bubblewrap/probe.ts';
import { probeBubblewrap } from './bubblewrap/probe.ts';
import { ownCacheFolder, usedToolCaches } from './cacheFolder.ts';
import type { OpenDoor } from './door.ts';
import { Doors } from './door.ts';
import { Leases } from './leases.ts';
import { lookAround, readTrees, searchedRoots } from './lookAround.ts';
import { adoptingArguments } from './ownerArguments.ts';
import { planLimits } from './planLimits.ts';
import type { RunProgram } from './runProgram.ts';
import { runProgram } from './runProgram.ts';
import { openLeaseFolder, openRuntimeFolder } from './runtimeFolder.ts';
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
  /** Of which no command sees anything, whatever its policy says: where sockets of servers are that run commands. */
  readonly hiddenFolders?: readonly string[];
  /** Its XDG_RUNTIME_DIR, if any, has the leases of mount points and the sockets of proxies. By default this process's. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly kernelVersion?: string;
  readonly run?: RunProgram;
  /** How the proxy of sandboxes with an allow-list reaches the world. */
  readonly networkAccess?: NetworkAccess;
  /** Leaves the mounts to it even where the companion program could make them, which is faster. */
  readonly mountedBy?: 'bubblewrap';
}

/** Of a command's text in the log. */
const longestLabel = 120;

/** What is needed to launch; found once. */
interface Ready {
  readonly bubblewrap: Bubblewrap;
  readonly machine: Machine;
  readonly leases: Leases;
  readonly proxy: NetworkProxy;
  readonly doors: Doors;
  readonly trees: TreeIndexes;
}

/** Confines commands with bubblewrap, seccomp and the companion program. Handles confined policies only. */
export function createLinuxSandbox(options: LinuxSandboxOptions): Launcher {
  const filter = Buffer.from(buildFilter()).toString('hex');
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
      ...(options.mountedBy && { mountedBy: options.mountedBy }),
    });
    if (!bubblewrap.ok) {
      options.log.warn(`sandbox: ${bubblewrap.error.kind}: ${bubblewrap.error.message}`);
      return bubblewrap;
    }
    const environment = options.environment ?? process.env;
    const runtimeFolder = openRuntimeFolder(environment, tmpdir());
    if (!runtimeFolder.ok) {
      return runtimeFolder;
    }
    const leaseFolder = openLeaseFolder(environment, tmpdir());
    if (!leaseFolder.ok) {
      return leaseFolder;
    }
    const leases = await openLeases(leaseFolder.value, options);
    if (!leases.ok) {
      return leases;
    }
    const { path, features } = bubblewrap.value;
    const mounter = features.companionMounts ? 'the companion program' : 'bubblewrap';
    options.log.info(
      `sandbox: bubblewrap ${bubblewrap.value.version} at ${path}; ${mounter} makes the mounts`,
    );
    const machine = describeMachine(options, path, runtimeFolder.value);
    const proxy = new NetworkProxy({
      ...options.networkAccess,
      folder: runtimeFolder.value,
      log: options.log,
    });
    return ok({
      bubblewrap: bubblewrap.value,
      machine,
      leases: leases.value,
      proxy,
      doors: new Doors(runtimeFolder.value),
      trees,
    });
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
  { bubblewrap, machine, leases, proxy, doors, trees }: Ready,
  policy: SandboxPolicy,
  command: Command,
  filter: string,
  log: Log,
): Promise<Result<Launch, SandboxError>> {
  // The root may have been opened after bubblewrap was found. All of the machine is nobody's project.
  if (policy.root !== '/' && isInside(bubblewrap.path, policy.root)) {
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
  const { existing, missing, guards } = plan.value.protectedPaths;
  const traps = guards.filter(({ expected }) => expected.kind === 'absent').map(({ path }) => path);
  // An existing name may be the mount point of a parallel run.
  const held = [...missing, ...existing.filter((path) => leases.isMountPoint(path))];
  const run = randomUUID();
  const limits = planLimits(policy, run);
  if (!limits.ok) {
    return limits;
  }
  const network = await openNetwork(proxy, policy, command);
  if (!network.ok) {
    return network;
  }
  const door = await openDoor(doors, command, plan.value);
  if (!door.ok) {
    network.value?.dispose();
    return door;
  }
  const argv = launcherArguments({
    bubblewrapPath: bubblewrap.path,
    features: bubblewrap.features,
    helperPath: machine.helperPath,
    network: policy.network,
    mounts: [
      ...plan.value.mounts,
      ...proxyMounts(network.value),
      ...(door.value?.mounts ?? []),
      ...held.map((path) => ({ path, kind: 'empty' }) as const),
    ],
    tasks: { folder: leases.folder, run, held, traps, groups: limits.value.groups },
    limits: limits.value.ofProcess,
    filter,
    command,
    cwd,
  });
  const refused = tooManyArguments(argv, bubblewrap.path, command, policy.root);
  if (refused !== undefined) {
    network.value?.dispose();
    door.value?.dispose();
    return fail(refused);
  }
  const aftermath = new Aftermath({
    ...plan.value.protectedPaths,
    roots: searchedRoots(policy),
    before: around.value.tree,
    isWritable: (path) => accessTo(policy, path) === 'write',
  });
  let denied: readonly DeniedCall[] = [];
  const release = async (): Promise<readonly Finding[]> => {
    network.value?.dispose();
    door.value?.dispose();
    if (!(await leases.settled(run))) {
      log.warn(`sandbox: the keeper of a run in ${policy.root} was killed; the next start cleans up`);
    }
    denied = leases.takeCalls(run);
    const after = await readTrees(policy, trees);
    const removed = traps.filter((path) => leases.takeNote(path));
    const findings = [
      ...removed.map(removedRedirect),
      ...aftermath.end(after.ok ? after.value : around.value.tree),
    ];
    findings.forEach(({ message }) => log.warn(`sandbox: ${message}`));
    return findings;
  };
  return ok({
    owner: command.adoptsStreams === true ? adoptingArguments(machine.helperPath) : [],
    argv,
    cwd,
    env: withoutLoader(command.env),
    sandbox: 'bubblewrap',
    blocked: () => network.value?.blocked ?? [],
    denied: () => denied,
    release,
  });
}

/** The way out for an allow-list; undefined for the other modes, which need none. */
async function openNetwork(
  proxy: NetworkProxy,
  policy: SandboxPolicy,
  command: Command,
): Promise<Result<ProxyEndpoint | undefined, SandboxError>> {
  if (policy.network !== 'allow-list') {
    return ok(undefined);
  }
  try {
    return ok(await proxy.open(policy, command.argv.join(' ').slice(0, longestLabel), command.network));
  } catch (error) {
    return fail({
      kind: 'clause-unenforceable',
      message: `The proxy for the allow-list of ${policy.root} does not start: ${String(error)}.`,
      hint: 'Correct what it names in cordon.sandbox.hosts or in the runtime folder, or set cordon.sandbox.network to "off".',
    });
  }
}

/** The way out for questions about parts; undefined for a command that has none. */
async function openDoor(
  doors: Doors,
  { door }: Command,
  sandbox: HeldPaths,
): Promise<Result<OpenDoor | undefined, SandboxError>> {
  if (door === undefined) {
    return ok(undefined);
  }
  try {
    return ok(await doors.open(door, sandbox));
  } catch (error) {
    return fail({
      kind: 'bubblewrap-failed',
      message: `The socket over which programs of a command are asked about cannot be made: ${String(error)}.`,
      hint: 'Check free space and permissions of the runtime folder (XDG_RUNTIME_DIR, or the folder for temporary files).',
    });
  }
}

function proxyMounts(endpoint: ProxyEndpoint | undefined): Mount[] {
  return endpoint === undefined ? [] : [{ path: proxyInside, kind: 'read', source: endpoint.socketPath }];
}

/** Without leases nothing runs: parallel runs would take each other's protection away. */
async function openLeases(
  folder: string,
  { helperPath, run = runProgram }: LinuxSandboxOptions,
): Promise<Result<Leases, SandboxError>> {
  try {
    const leases = new Leases(folder);
    await leases.sweep(helperPath, run);
    return ok(leases);
  } catch (error) {
    return fail({
      kind: 'bubblewrap-failed',
      message: `Cordon could not note which names it protects in ${folder}: ${String(error)}.`,
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
    toolCaches: usedToolCaches(homeFolder, options.searchPath),
    runtimeFolder: canonical(runtimeFolder),
    hiddenFolders: (options.hiddenFolders ?? []).map(canonical),
    temporaryFolders: temporaryFolders(),
    trustedPaths: [dirname(helperPath), bubblewrapPath, process.execPath, ...(options.trustedPaths ?? [])]
      .map(canonicalPath)
      .filter((path) => path !== undefined),
    // The build's folder, which has the program `apply_patch`, and what runs that.
    programPaths: [dirname(dirname(helperPath)), canonical(process.execPath)],
  };
}

function canonical(path: string): string {
  return canonicalPath(path) ?? path;
}
