import type { SandboxError } from '../sandbox/sandboxManager.ts';

/** Explains on one page why nothing can be confined on this machine, and what to type to change that. */
export function sandboxErrorPage(error: SandboxError): string {
  const { title, cures } = help[error.kind];
  return [
    `# ${title}`,
    'Cordon runs a command only when it can enforce the policy of its folder exactly. Here it cannot, so no sandboxed command runs until this is solved. Nothing ever falls back to running without a sandbox.',
    '## What stopped it',
    error.message,
    '## What to do',
    error.hint,
    ...cures,
    '## Then',
    'Run “Cordon: Check Sandbox” from the command palette. The status bar turns normal when the sandbox works.',
    'To run without a sandbox all the same, choose “No sandbox” for the folder in “Cordon: Change Sandbox Mode…”: every command then does what you may do on this machine.',
    '',
  ].join('\n\n');
}

interface Help {
  readonly title: string;
  readonly cures: readonly string[];
}

const installBubblewrap: readonly string[] = [
  'Install the package `bubblewrap` on the machine that runs the commands (with WSL, SSH or a container: inside it):',
  code(
    'sudo apt-get install bubblewrap      # Debian, Ubuntu',
    'sudo dnf install bubblewrap          # Fedora, RHEL',
    'sudo pacman -S bubblewrap            # Arch',
    'sudo apk add bubblewrap              # Alpine',
  ),
  'The program `bwrap` must be on `PATH`, outside of the opened folders.',
];

const enableNamespaces: readonly string[] = [
  'Look at what the system says about unprivileged user namespaces:',
  code(
    'sysctl kernel.unprivileged_userns_clone kernel.apparmor_restrict_unprivileged_userns user.max_user_namespaces',
  ),
  'Debian: if the first is 0,',
  code('sudo sysctl kernel.unprivileged_userns_clone=1'),
  'Ubuntu 24.04 and later: if the second is 1, allow it for `bwrap` alone with an AppArmor profile:',
  code(
    'sudo tee /etc/apparmor.d/bwrap <<EOF',
    'abi <abi/4.0>,',
    'include <tunables/global>',
    'profile bwrap /usr/bin/bwrap flags=(unconfined) {',
    '  userns,',
    '}',
    'EOF',
    'sudo systemctl reload apparmor',
  ),
  'If the last is 0, an administrator has switched them off: `sudo sysctl user.max_user_namespaces=15000`.',
  'In a container, its own confinement decides: Docker wants `--security-opt seccomp=unconfined --security-opt apparmor=unconfined`, Kubernetes a pod whose security profile allows user namespaces.',
];

const help: Readonly<Record<SandboxError['kind'], Help>> = {
  'bubblewrap-missing': { title: 'The sandbox needs bubblewrap', cures: installBubblewrap },
  'user-namespaces-off': { title: 'The system forbids user namespaces', cures: enableNamespaces },
  wsl1: {
    title: 'WSL 1 has no sandbox',
    cures: [
      'WSL 1 has no Linux kernel. In a Windows terminal, convert the distribution to WSL 2:',
      code('wsl --list --verbose', 'wsl --set-version <distribution> 2'),
    ],
  },
  'helper-missing': {
    title: 'A part of Cordon is missing',
    cures: [
      'Install the extension again, in the build for this platform. From sources: `npm install && npm run build`.',
    ],
  },
  'platform-unsupported': {
    title: 'This platform has no sandbox yet',
    cures: ['Today Cordon confines commands on Linux (x64 and arm64), WSL 2 included.'],
  },
  'clause-unenforceable': {
    title: 'A part of the policy cannot be enforced',
    cures: ['Change that part in the settings under “Cordon › Sandbox”, or remove what stands in its way.'],
  },
  'bubblewrap-failed': {
    title: 'bubblewrap does not start',
    cures: [
      'Try it by hand; what it prints is the reason:',
      code('bwrap --ro-bind / / --unshare-user --unshare-pid --unshare-net true && echo works'),
      ...enableNamespaces,
    ],
  },
};

function code(...lines: readonly string[]): string {
  return `\`\`\`sh\n${lines.join('\n')}\n\`\`\``;
}
