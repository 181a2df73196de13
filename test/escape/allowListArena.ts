import type { HostPattern } from '../../src/sandbox/policy/hostRules.ts';
import type { Lookup } from '../../src/sandbox/network/gate.ts';
import type { BlockedRequest } from '../../src/sandbox/network/blockedRequest.ts';
import type { CommandNetwork } from '../../src/sandbox/network/commandNetwork.ts';
import { proxyVariables } from '../../src/sandbox/network/proxyVariables.ts';
import type { SandboxPolicy } from '../../src/sandbox/policy/policy.ts';
import type { Outcome, RunOptions } from './harness.ts';
import { Arena, finished, nodePath, start } from './harness.ts';

export interface AllowListOptions extends RunOptions {
  /** Of the command's proxy, beyond its policy. */
  readonly network?: CommandNetwork;
}

export interface AllowListOutcome extends Outcome {
  readonly blocked: readonly BlockedRequest[];
}

/** An arena whose commands have the network by allow-list; every name is this machine's loopback. */
export class AllowListArena extends Arena {
  readonly lookedUp: string[] = [];

  constructor(lookup: Lookup = async () => ['127.0.0.1']) {
    super(
      {},
      {
        networkAccess: {
          upstream: () => undefined,
          lookup: (name) => {
            this.lookedUp.push(name);
            return lookup(name);
          },
        },
      },
    );
  }

  allowing(allow: readonly HostPattern[], deny: readonly HostPattern[] = []): SandboxPolicy {
    return { ...this.policy(), network: 'allow-list', hosts: { allow, deny } };
  }

  async runUnder(
    policy: SandboxPolicy,
    argv: readonly string[],
    { network, ...options }: AllowListOptions = {},
  ): Promise<AllowListOutcome> {
    const env = { PATH: process.env['PATH'] ?? '', HOME: '/tmp', ...proxyVariables, ...options.env };
    const launch = await this.launch(
      argv,
      { env, cwd: options.cwd ?? this.root, ...(network && { network }) },
      policy,
    );
    try {
      const outcome = await finished(
        start(options.without?.(launch.argv) ?? launch.argv, launch.cwd, launch.env),
      );
      return { ...outcome, blocked: launch.blocked() };
    } finally {
      await launch.release();
    }
  }

  shellUnder(
    policy: SandboxPolicy,
    script: string,
    options: AllowListOptions = {},
  ): Promise<AllowListOutcome> {
    return this.runUnder(policy, ['/bin/bash', '-c', script], options);
  }

  nodeUnder(policy: SandboxPolicy, script: string, options: RunOptions = {}): Promise<AllowListOutcome> {
    return this.runUnder(policy, [nodePath, '-e', script], options);
  }
}

/** These ports of the machine, by address and by every name below `test`. */
export function ports(...numbers: readonly number[]): HostPattern[] {
  return numbers.flatMap((port) => [
    { host: '127.0.0.1', port },
    { host: '*.test', port },
  ]);
}
