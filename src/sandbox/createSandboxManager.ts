import type { Result } from '../base/result.ts';
import { fail, ok } from '../base/result.ts';
import { helperMissing } from './linux/bubblewrap/explainFailure.ts';
import type { LinuxSandboxOptions } from './linux/createLinuxSandbox.ts';
import { createLinuxSandbox } from './linux/createLinuxSandbox.ts';
import { createLandlockSandbox } from './linux/landlock/createLandlockSandbox.ts';
import { adoptingArguments, ownerArguments } from './linux/ownerArguments.ts';
import { isUnsandboxed } from './policy/policy.ts';
import type {
  Availability,
  Launch,
  Launcher,
  LauncherName,
  SandboxError,
  SandboxManager,
} from './sandboxManager.ts';
import type { Trials } from './select/selectLauncher.ts';
import { selectLauncher } from './select/selectLauncher.ts';

export interface SandboxManagerOptions extends LinuxSandboxOptions {
  readonly platform: NodeJS.Platform;
}

/**
 * The sandbox of this machine. `danger-full-access` runs as it is; any other policy runs confined, by the first
 * launcher that enforces it exactly, or not at all.
 */
export function createSandboxManager(options: SandboxManagerOptions): SandboxManager {
  const { log, platform } = options;
  const implementations: Readonly<Record<LauncherName, Launcher>> = {
    bubblewrap: createLinuxSandbox(options),
    landlock: createLandlockSandbox(options),
  };
  const machine = { isRoot: process.getuid?.() === 0 };

  const check = async (refresh = false): Promise<Availability> => {
    const [bubblewrap, landlock] = await Promise.all(
      platform === 'linux'
        ? [implementations.bubblewrap.check(refresh), implementations.landlock.check(refresh)]
        : [],
    );
    const trials: Trials = { ...(bubblewrap && { bubblewrap }), ...(landlock && { landlock }) };
    return { launcherFor: (policy) => selectLauncher(platform, trials, policy, machine) };
  };

  return {
    check,
    ...(platform === 'linux' && { companion: options.helperPath }),
    async transform(policy, command) {
      if (isUnsandboxed(policy)) {
        log.debug(`sandbox: none for ${policy.root} (${policy.mode} by ${policy.sources.mode})`);
        const { argv, cwd, env } = command;
        const owner = platform === 'linux' ? ownerArguments(options.helperPath, command.arg0) : [];
        if (owner.length === 0 && command.arg0 !== undefined) {
          return fail(helperMissing(options.helperPath));
        }
        const adopting = command.adoptsStreams === true ? adoptingArguments(options.helperPath) : [];
        return ok({
          owner: [...adopting, ...owner],
          argv,
          cwd,
          env,
          sandbox: 'none',
          blocked: () => [],
          denied: () => [],
          release: async () => [],
        });
      }
      const chosen = (await check()).launcherFor(policy);
      const launch: Result<Launch, SandboxError> = chosen.ok
        ? await implementations[chosen.value.launcher].transform(policy, command)
        : chosen;
      log.debug(
        launch.ok
          ? `sandbox: ${launch.value.sandbox} for ${policy.root} (${policy.mode}, network ${policy.network})`
          : `sandbox: refused for ${policy.root}: ${launch.error.message}`,
      );
      return launch;
    },
  };
}
