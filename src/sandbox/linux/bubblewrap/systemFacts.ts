import { readFileSync } from 'node:fs';

/** What the system says about namespaces; the reason of a refusal is among it. */
export interface SystemFacts {
  /** Ubuntu 24.04 and later: `kernel.apparmor_restrict_unprivileged_userns`. Root is not an exception. */
  readonly isAppArmorRestricting: boolean;
  /** Debian's `kernel.unprivileged_userns_clone` is 0. */
  readonly isCloneOff: boolean;
  /** Those of `user.max_*_namespaces` that are 0. */
  readonly limitedNamespaces: readonly string[];
  /** This process is under a seccomp filter, and with it all that it starts. */
  readonly isFiltered: boolean;
}

const limits = ['user', 'pid', 'net', 'mnt', 'ipc', 'uts', 'cgroup'].map((kind) => `max_${kind}_namespaces`);

export function readSystemFacts(): SystemFacts {
  return {
    isAppArmorRestricting: read('/proc/sys/kernel/apparmor_restrict_unprivileged_userns') === '1',
    isCloneOff: read('/proc/sys/kernel/unprivileged_userns_clone') === '0',
    limitedNamespaces: limits.filter((limit) => read(`/proc/sys/user/${limit}`) === '0'),
    isFiltered: /^Seccomp:\s*2$/m.test(read('/proc/self/status')),
  };
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    // This kernel has no such setting, or does not show it.
    return '';
  }
}
