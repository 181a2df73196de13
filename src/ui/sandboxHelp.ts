import { appArmorProfile } from '../sandbox/linux/bubblewrap/explainFailure.ts';
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

/** How a setting of the kernel is changed, now and for good. */
function kernelSetting(name: string, value: number): readonly string[] {
  return [
    code(`sudo sysctl ${name}=${value}`, `echo ${name}=${value} | sudo tee /etc/sysctl.d/60-cordon.conf`),
    'The second line keeps it over a restart.',
  ];
}

const appArmor: readonly string[] = [
  'Ubuntu 24.04 and later let only programs with an AppArmor profile use user namespaces. Give bubblewrap one (put the path that `command -v bwrap` prints, if it is another):',
  code(
    "sudo tee /etc/apparmor.d/bwrap <<'EOF'",
    ...appArmorProfile('/usr/bin/bwrap').split('\n'),
    'EOF',
    'sudo apparmor_parser -r /etc/apparmor.d/bwrap',
  ),
  'Or lift the restriction for every program of this machine, which is less safe:',
  ...kernelSetting('kernel.apparmor_restrict_unprivileged_userns', 0),
];

const container: readonly string[] = [
  'In a container, its own confinement decides about namespaces:',
  code(
    'docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined …',
    'podman run --security-opt seccomp=unconfined --security-opt unmask=ALL …',
  ),
  'In a `devcontainer.json` the same options go into `"runArgs"`. Kubernetes wants a pod with `hostUsers: false` or a seccomp profile that allows `unshare`, and `procMount: Unmasked`.',
];

const tryByHand: readonly string[] = [
  'Try it by hand; what it prints is the reason:',
  code('bwrap --ro-bind / / --unshare-user --unshare-pid --unshare-net --proc /proc true && echo works'),
];

const help: Readonly<Record<SandboxError['kind'], Help>> = {
  'bubblewrap-missing': { title: 'The sandbox needs bubblewrap', cures: installBubblewrap },
  'bubblewrap-too-old': { title: 'bubblewrap is too old', cures: installBubblewrap },
  'namespaces-apparmor': { title: 'AppArmor forbids bubblewrap user namespaces', cures: appArmor },
  'namespaces-limit': {
    title: 'The system’s limit of namespaces is too low',
    cures: [
      'Look which limit is 0, and raise it:',
      code('sysctl -a 2>/dev/null | grep "user.max_.*_namespaces"'),
      ...kernelSetting('user.max_user_namespaces', 15_000),
    ],
  },
  'namespaces-switched-off': {
    title: 'The system has switched off user namespaces',
    cures: ['Debian has a switch of its own:', ...kernelSetting('kernel.unprivileged_userns_clone', 1)],
  },
  'namespaces-container': { title: 'A container forbids namespaces', cures: container },
  'namespaces-refused': {
    title: 'The kernel refuses user namespaces',
    cures: [
      'In a chroot the kernel makes none: start the editor, or its server, outside. Otherwise a security module decides; its denials are in the system log:',
      code('sudo journalctl -k | grep -i denied | tail'),
      ...container,
    ],
  },
  'proc-unmountable': { title: 'The sandbox may not have a /proc of its own', cures: container },
  'loopback-denied': {
    title: 'The sandbox may not bring up its own loopback',
    cures: [
      'A security module decides; its denials are in the system log:',
      code('sudo journalctl -k | grep -i denied | tail'),
      ...appArmor,
    ],
  },
  'landlock-missing': {
    title: 'Neither bubblewrap nor Landlock works here',
    cures: [
      'Landlock confines read-only folders from Linux 6.12 on. bubblewrap confines every folder:',
      ...installBubblewrap,
    ],
  },
  'self-test-failed': {
    title: 'The sandbox does not hold what it promises',
    cures: ['Run “Cordon: Check Sandbox”: its page says which probe failed and what that means.'],
  },
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
  'bubblewrap-failed': { title: 'bubblewrap does not start', cures: [...tryByHand, ...container] },
};

function code(...lines: readonly string[]): string {
  return `\`\`\`sh\n${lines.join('\n')}\n\`\`\``;
}
