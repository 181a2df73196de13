import type { SandboxError } from '../../sandboxManager.ts';

/** What bubblewrap prints when the kernel or a container does not let it make namespaces. */
const namespaceMessages = [
  /no permissions to creat(e|ing) new namespace/i,
  /creating new namespace failed/i,
  /setting up uid map: (permission denied|operation not permitted)/i,
  /loopback: failed (rtm_newaddr|rtm_newlink)/i,
  /unshare.*(operation not permitted|no space left)/i,
  /can't mount proc/i,
  /pivot_root: operation not permitted/i,
];

/** Turns the output of a bubblewrap that did not start a harmless program into a cause and a cure. */
export function explainFailure(stderr: string, exitCode: number | undefined): SandboxError {
  const detail = stderr.trim().split('\n').at(-1) || `exit code ${exitCode ?? 'unknown'}`;
  if (namespaceMessages.some((pattern) => pattern.test(stderr))) {
    return {
      kind: 'user-namespaces-off',
      message: `bubblewrap may not make user namespaces on this machine (${detail}).`,
      hint: [
        'Ubuntu 24.04 and later: sysctl kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile for bwrap.',
        'Debian: sysctl kernel.unprivileged_userns_clone=1. Others: user.max_user_namespaces must not be 0.',
        'In a container: start it with a seccomp profile that allows them, and an unmasked /proc.',
      ].join(' '),
    };
  }
  return {
    kind: 'bubblewrap-failed',
    message: `bubblewrap did not start a harmless program (${detail}).`,
    hint: 'Run "bwrap --ro-bind / / true" in a terminal and repair what it names.',
  };
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
export function isWsl1(kernelVersion: string): boolean {
  return /microsoft/i.test(kernelVersion) && !/microsoft-standard|wsl2/i.test(kernelVersion);
}
