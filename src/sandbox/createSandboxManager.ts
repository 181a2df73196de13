import { fail, ok } from '../base/result.ts';
import type { LinuxSandboxOptions } from './linux/createLinuxSandbox.ts';
import { createLinuxSandbox } from './linux/createLinuxSandbox.ts';
import { isUnsandboxed } from './policy/policy.ts';
import type { SandboxError, SandboxManager } from './sandboxManager.ts';

export interface SandboxManagerOptions extends LinuxSandboxOptions {
  readonly platform: NodeJS.Platform;
}

/**
 * The sandbox of this machine. `danger-full-access` runs as it is; any other policy runs confined or not at all.
 */
export function createSandboxManager(options: SandboxManagerOptions): SandboxManager {
  const confined = options.platform === 'linux' ? createLinuxSandbox(options) : unsupported(options.platform);
  return {
    check: (refresh) => confined.check(refresh),
    async transform(policy, command) {
      if (isUnsandboxed(policy)) {
        options.log.debug(`sandbox: none for ${policy.root} (${policy.mode} by ${policy.sources.mode})`);
        return ok({
          argv: command.argv,
          cwd: command.cwd,
          env: command.env,
          sandbox: 'none',
          release: async () => [],
        });
      }
      const launch = await confined.transform(policy, command);
      options.log.debug(
        launch.ok
          ? `sandbox: ${launch.value.sandbox} for ${policy.root} (${policy.mode}, network ${policy.network})`
          : `sandbox: refused for ${policy.root}: ${launch.error.message}`,
      );
      return launch;
    },
  };
}

function unsupported(platform: NodeJS.Platform): SandboxManager {
  const error: SandboxError = {
    kind: 'platform-unsupported',
    message: `Cordon cannot confine commands on ${platform} yet.`,
    hint: 'Use Linux, WSL 2 or a remote Linux machine, or choose danger-full-access for this root.',
  };
  return { transform: async () => fail(error), check: async () => fail(error) };
}
