import { accessSync, constants, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import type { Result } from '../../../base/result.ts';
import { fail, ok } from '../../../base/result.ts';
import type { NetworkMode, SandboxPolicy } from '../../policy/policy.ts';
import type { Launcher, SandboxError, SandboxReport } from '../../sandboxManager.ts';
import { withLimits } from '../../select/selectLauncher.ts';
import { temporaryFolders } from '../../temporaryFolders.ts';
import { helperMissing, isWsl1, wsl1 } from '../bubblewrap/explainFailure.ts';
import { limitArguments } from '../bubblewrap/launcherArguments.ts';
import type { LinuxSandboxOptions } from '../createLinuxSandbox.ts';
import { adoptingArguments } from '../ownerArguments.ts';
import { runProgram } from '../runProgram.ts';
import { openRuntimeFolder } from '../runtimeFolder.ts';
import { buildFilter } from '../seccomp/filter.ts';
import { TreeIndex } from '../treeIndex.ts';
import { withoutLoader } from '../withoutLoader.ts';
import { firstUnknownCall, landlockRules } from './filterRules.ts';
import { closedFolders, planGrants } from './grants.ts';
import { landlockLimits, landlockLosses, landlockWeaknesses } from './limits.ts';

/** The first with scopes for signals, without which a command could end the person's own programs: Linux 6.12. */
export const neededVersion = 6;

type EnforceableNetwork = Exclude<NetworkMode, 'allow-list'>;

/**
 * Confines commands with Landlock, seccomp and the companion program, on machines where bubblewrap cannot start.
 * Refuses every policy that has something writable in it: see {@link landlockLimits}.
 */
export function createLandlockSandbox(options: LinuxSandboxOptions): Launcher {
  const run = options.run ?? runProgram;
  const state: { checked?: Promise<Result<SandboxReport, SandboxError>> } = {};
  const hexOf = (network: EnforceableNetwork): string =>
    Buffer.from(buildFilter(landlockRules(network), { unknownFrom: firstUnknownCall })).toString('hex');
  const filters: Readonly<Record<EnforceableNetwork, string>> = { off: hexOf('off'), on: hexOf('on') };
  const indexes = new Map<string, TreeIndex>();

  const check = async (): Promise<Result<SandboxReport, SandboxError>> => {
    if (isWsl1(options.kernelVersion)) {
      return fail(wsl1);
    }
    const path = executable(options.helperPath);
    if (path === undefined) {
      return fail(helperMissing(options.helperPath));
    }
    const version = (await run(path, ['--landlock-version'])).exitCode ?? 0;
    if (version < neededVersion) {
      return fail(landlockMissing(version));
    }
    const trial = await run(path, [
      ...['--landlock', '--seccomp', filters.off, '--read', path],
      ...['--', path, '--check'],
    ]);
    if (trial.exitCode !== 0) {
      return fail(landlockMissing(version, trial.stderr.trim()));
    }
    return ok({
      launcher: 'landlock',
      path,
      version: String(version),
      landlockVersion: version,
      companionInside: path,
      weaknesses: landlockWeaknesses,
      losses: landlockLosses,
    });
  };

  const checked = (refresh = false): Promise<Result<SandboxReport, SandboxError>> => {
    if (refresh || state.checked === undefined) {
      state.checked = check();
    }
    return state.checked;
  };

  const hiddenBy = async (policy: SandboxPolicy): Promise<Result<readonly string[], SandboxError>> => {
    const found: string[] = [];
    for (const folder of new Set(policy.hidden.map((glob) => glob.folder))) {
      const index = indexes.get(folder) ?? new TreeIndex(folder);
      indexes.set(folder, index);
      const findings = await index.read(policy.hidden.filter((glob) => glob.folder === folder));
      if (!findings.ok) {
        return findings;
      }
      found.push(...findings.value.hidden);
    }
    return ok(found);
  };

  return {
    check: checked,
    async transform(policy, command) {
      const report = await checked();
      if (!report.ok) {
        return report;
      }
      const limits = landlockLimits.filter(({ applies }) =>
        applies(policy, { isRoot: process.getuid?.() === 0 }),
      );
      if (limits.length > 0 || policy.network === 'allow-list') {
        return fail(withLimits(undefined, 'Landlock', limits, policy));
      }
      const hidden = await hiddenBy(policy);
      if (!hidden.ok) {
        return hidden;
      }
      const runtimeFolder = openRuntimeFolder(options.environment ?? process.env, tmpdir());
      if (!runtimeFolder.ok) {
        return runtimeFolder;
      }
      const grants = planGrants({
        files: policy.files,
        hidden: hidden.value,
        closed: [
          ...closedFolders,
          ...(policy.tmp === 'private' ? temporaryFolders() : []),
          ...[runtimeFolder.value, ...(options.hiddenFolders ?? [])].map(
            (folder) => canonicalIfAny(folder) ?? folder,
          ),
        ],
        programs: [dirname(dirname(report.value.path)), process.execPath]
          .map(canonicalIfAny)
          .filter((path) => path !== undefined),
        opened: policy.network === 'on' ? resolverConfiguration() : [],
      });
      if (grants === undefined) {
        return fail(tooManyGrants(policy));
      }
      return ok({
        owner: command.adoptsStreams === true ? adoptingArguments(report.value.path) : [],
        argv: [
          ...[report.value.path, '--landlock', '--seccomp', filters[policy.network]],
          ...(policy.network === 'on' ? ['--network'] : []),
          ...(command.tty ? ['--foreground'] : []),
          ...(command.arg0 === undefined ? [] : ['--arg0', command.arg0]),
          ...limitArguments(policy.limits),
          ...grants.flatMap(({ kind, path }) => [`--${kind}`, path]),
          ...['--', ...command.argv],
        ],
        cwd: canonicalIfAny(command.cwd) ?? command.cwd,
        env: withoutLoader(command.env),
        sandbox: 'landlock',
        blocked: () => [],
        denied: () => [],
        // Nothing was made for it on the machine.
        release: async () => [],
      });
    },
  };
}

function landlockMissing(version: number, detail?: string): SandboxError {
  return {
    kind: 'landlock-missing',
    message:
      detail === undefined
        ? `Landlock ${neededVersion} is needed to confine commands without bubblewrap, and this kernel offers ${version === 0 ? 'none' : version}.`
        : `Landlock does not confine a harmless program here (${detail}).`,
    hint: 'Install bubblewrap, or use a kernel from Linux 6.12 on that has Landlock switched on (lsm=landlock,…).',
  };
}

function tooManyGrants({ root }: SandboxPolicy): SandboxError {
  return {
    kind: 'clause-unenforceable',
    message: `Landlock would have to open too many files one by one in ${root} and on the way to it, because folders contain something hidden.`,
    hint: 'Hide whole folders instead of files in big folders in cordon.sandbox.files, or install bubblewrap.',
  };
}

/** systemd keeps the file that `/etc/resolv.conf` leads to in `/run`. */
function resolverConfiguration(): string[] {
  return ['/etc/resolv.conf'].map(canonicalIfAny).filter((path) => path !== undefined);
}

function executable(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK);
    return realpathSync(path);
  } catch {
    // Missing or not executable are told alike to the user.
    return undefined;
  }
}

function canonicalIfAny(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    // Not on this machine.
    return undefined;
  }
}
