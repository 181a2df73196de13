import { release, version } from 'node:os';
import type { SandboxError } from '../../sandboxManager.ts';
import type { ProgramResult } from '../runProgram.ts';
import type { SystemFacts } from './systemFacts.ts';

type Failure = Pick<ProgramResult, 'stderr' | 'exitCode'>;
type Cause = Pick<SandboxError, 'kind' | 'hint'> & { readonly why: string };

/**
 * Turns the output of a bubblewrap that did not start a harmless program into a cause and a cure. The text alone does
 * not tell: a distribution's rule, a container's filter and a chroot all answer EPERM, so the system is asked, too.
 */
export function explainFailure(
  { stderr, exitCode }: Failure,
  bubblewrapPath: string,
  system: SystemFacts,
): SandboxError {
  const detail = stderr.trim().split('\n').at(-1) || `exit code ${exitCode ?? 'unknown'}`;
  const { kind, hint, why } = causeOf(stderr, bubblewrapPath, system);
  return { kind, hint, message: `bubblewrap does not start here: ${why} (${detail}).` };
}

function causeOf(stderr: string, bubblewrapPath: string, system: SystemFacts): Cause {
  if (/unknown option/i.test(stderr)) {
    return {
      kind: 'bubblewrap-too-old',
      why: 'it is too old for what Cordon asks of it',
      hint: 'Install bubblewrap 0.4 or later from your distribution, and see that it comes first on PATH.',
    };
  }
  if (/max_\*_namespaces exceeded|no space left|ENOSPC/i.test(stderr)) {
    const setting = system.limitedNamespaces[0] ?? 'max_user_namespaces';
    return {
      kind: 'namespaces-limit',
      why: `the limit user.${setting} does not let it make namespaces`,
      hint: `sudo sysctl user.${setting}=15000, and the same line in /etc/sysctl.d to keep it.`,
    };
  }
  if (/can't mount proc/i.test(stderr)) {
    return {
      kind: 'proc-unmountable',
      why: 'a container that covers parts of /proc does not let it have a /proc of its own',
      hint: 'Docker: --security-opt systempaths=unconfined; Podman: --security-opt unmask=ALL; Kubernetes: procMount: Unmasked.',
    };
  }
  const isLoopback = /loopback: failed/i.test(stderr);
  if (isLoopback || /new namespace|uid map|unshare|pivot_root|clone/i.test(stderr)) {
    return causeOfRefusal(isLoopback, bubblewrapPath, system);
  }
  return {
    kind: 'bubblewrap-failed',
    why: 'it could not run a harmless program',
    hint: 'Run "bwrap --ro-bind / / true" in a terminal and repair what it names.',
  };
}

function causeOfRefusal(isLoopback: boolean, bubblewrapPath: string, system: SystemFacts): Cause {
  if (system.isCloneOff) {
    return {
      kind: 'namespaces-switched-off',
      why: 'the system has switched off user namespaces for ordinary users',
      hint: 'sudo sysctl kernel.unprivileged_userns_clone=1, and the same line in /etc/sysctl.d to keep it.',
    };
  }
  if (system.isAppArmorRestricting) {
    return {
      kind: 'namespaces-apparmor',
      why: 'AppArmor lets only programs with a profile use user namespaces (Ubuntu 24.04 and later)',
      hint: `Give ${bubblewrapPath} a profile: “Cordon: Check Sandbox” shows its text.`,
    };
  }
  if (system.isFiltered) {
    return {
      kind: 'namespaces-container',
      why: 'a system call filter around this process, most likely of a container, forbids namespaces',
      hint: 'Start the container with a seccomp profile that allows them (Docker: --security-opt seccomp=unconfined).',
    };
  }
  return isLoopback
    ? {
        kind: 'loopback-denied',
        why: 'a security module does not let it bring up the loopback of its own network',
        hint: 'Look for a denial of bwrap in the system log (journalctl -k | grep -i denied) and allow net_admin in its user namespace.',
      }
    : {
        kind: 'namespaces-refused',
        why: 'the kernel does not let it make user namespaces, as in a chroot or under a security module',
        hint: 'Start the editor outside of a chroot, or look for a denial of bwrap in the system log (journalctl -k | grep -i denied).',
      };
}

/** The profile that lets one program make user namespaces, as Ubuntu ships such profiles for others. */
export function appArmorProfile(bubblewrapPath: string): string {
  return [
    'abi <abi/4.0>,',
    'include <tunables/global>',
    `profile bwrap ${bubblewrapPath} flags=(unconfined) {`,
    '  userns,',
    '}',
  ].join('\n');
}

export const bubblewrapMissing: SandboxError = {
  kind: 'bubblewrap-missing',
  message:
    'bubblewrap (bwrap), which confines commands on Linux, was not found on PATH outside the workspace.',
  hint: 'Install it: apt install bubblewrap, dnf install bubblewrap, or pacman -S bubblewrap. Then try again.',
};

export const wsl1: SandboxError = {
  kind: 'wsl1',
  message: 'This is WSL 1, whose kernel has no namespaces to confine a command with.',
  hint: 'Convert the distribution to WSL 2 (wsl --set-version NAME 2).',
};

export function helperMissing(helperPath: string): SandboxError {
  return {
    kind: 'helper-missing',
    message: `Cordon's launcher ${helperPath} is missing or may not be executed.`,
    hint: 'Install the extension again for this platform; from sources: npm run build.',
  };
}

/** The kernel of WSL 1 calls itself `…-Microsoft`, that of WSL 2 `…-microsoft-standard-WSL2`. */
export function isWsl1(kernelVersion = `${release()} ${version()}`): boolean {
  return /microsoft/i.test(kernelVersion) && !/microsoft-standard|wsl2/i.test(kernelVersion);
}
